"""What one worker may rely on: a log is what was written, whole, in order, and nothing else."""

from typing import Any

from agent_client.journal import Log, StaleVersion, TaskQuery
from agent_client.ports import Checkpoints
from agent_client.testing.checkpoints import CheckpointSubject, bodies, commit, expect, expect_raises

_SAVES_IN_A_MILLISECOND = 1000


async def admission_is_idempotent(subject: CheckpointSubject) -> None:
    """A second `create` writes nothing and returns what is there."""
    async with subject.open() as store:
        first = await store.create("idempotent", commit(0, "a"))
        await store.append("idempotent", after=1, commit=commit(1, "b"))
        second = await store.create("idempotent", commit(0, "other", task_type="other"))
        expect(bodies(first) == ["a"] and first.version == 0, "create returns the log it wrote")
        expect(bodies(second) == ["a", "b"], "create of a task that exists changes nothing and returns its log")
        expect(second.headline.task_type == "conformance", "create of a task that exists leaves its headline")


async def what_is_read_is_what_was_written(subject: CheckpointSubject) -> None:
    """Every field of entries, snapshot and headline, to the last digit, after the store was opened anew."""
    odd = '{"text": "naïve ₹ 🙂 \\u0000 ' + "x" * 200_000 + '"}'
    told: dict[str, Any] = {
        "reason": "waits for ₹ 2,000",
        "finished": True,
        "wake_at_wall": 0.1 + 0.2,
        "pinned_version": 3,
    }
    async with subject.open() as store:
        await store.create("round", commit(0, odd, "", at=1_790_000_000.123456789))
        await store.append("round", after=2, commit=commit(1, odd, snapshot=odd, status="DONE", at=2.0, **told))
        await store.append("round", after=3, commit=commit(1, "note", status="DONE", at=1.0, **told))
    async with subject.open() as store:
        log = _there(await store.load("round"))
        events = await store.events("round")
        headline = commit(0, status="DONE", **told).headline
        expect(log.headline == headline, "the headline is the last one written, field by field")
        expect(log.snapshot is not None and log.snapshot.body == odd, "a snapshot is kept as it is")
        expect(bodies(log) == ["note"], "a log is the latest snapshot and the entries after it")
        expect((log.position, log.version) == (4, 1), "a log ends where its last entry stands")
        expect([entry.body for entry in events] == [odd, "", odd, "note"], "bodies are kept as they are")
        expect(events[0].at_wall == 1_790_000_000.123456789, "a moment is kept to the last digit")
        expect([entry.position for entry in events] == [1, 2, 3, 4], "positions count from 1 without a gap")
        expect([entry.version for entry in events] == [0, 0, 1, 1], "entries carry the version of their commit")


async def an_older_version_is_as_it_was(subject: CheckpointSubject) -> None:
    """`load(version=…)` has that version's notes, and nothing of a later one."""
    async with subject.open() as store:
        await store.create("older", commit(0, "a"))
        await store.append("older", after=1, commit=commit(1, "b", snapshot="S1"))
        await store.append("older", after=2, commit=commit(1, "note"))
        await store.append("older", after=3, commit=commit(2, "c", snapshot="S2"))
        zero, one, two = [_there(await store.load("older", version=version)) for version in (0, 1, 2)]
        expect(bodies(zero) == ["a"] and zero.snapshot is None, "version 0 is its entries")
        expect(one.snapshot is not None and one.snapshot.body == "S1", "version 1 begins with its own snapshot")
        expect(bodies(one) == ["note"] and (one.position, one.version) == (3, 1), "version 1 has its note")
        expect(two.snapshot is not None and two.snapshot.body == "S2" and not two.entries, "version 2 is the last")
        for version in (3, -1):
            expect(await store.load("older", version=version) is None, "a version that never was is None")


async def a_task_nobody_created_is_nothing(subject: CheckpointSubject) -> None:
    """None, no events, nothing to prune, and no append that would create it."""
    async with subject.open() as store:
        expect(await store.load("nobody") is None, "load of no task is None")
        expect(await store.events("nobody") == (), "events of no task are none")
        expect(await store.prune("nobody", below=1) == 0, "nothing is pruned of no task")
        expect(await store.prune("nobody") == 0, "no task is forgotten")
        lost = store.append("nobody", after=0, commit=commit(1))
        await expect_raises(StaleVersion, lost, "append to no task is stale: somebody has forgotten it")


async def a_stale_append_changes_nothing(subject: CheckpointSubject) -> None:
    """A worker that was superseded saves after its successor: refused, and the log is byte for byte the same."""
    async with subject.open() as store:
        await store.create("stale", commit(0, "a"))
        await store.append("stale", after=1, commit=commit(1, "successor", snapshot="S"))
        before = (await store.load("stale"), await store.events("stale"))
        for after in (0, 1, 3, 99):
            late = store.append("stale", after=after, commit=commit(2, "late", snapshot="late", status="late"))
            await expect_raises(StaleVersion, late, f"append after position {after} of a log that ends at 2 is stale")
        expect((await store.load("stale"), await store.events("stale")) == before, "a stale append changes nothing")
        expect(await store.append("stale", after=2, commit=commit(2, "b")) == 3, "append returns the last position")


async def versions_have_no_gaps(subject: CheckpointSubject) -> None:
    """A version is the last one or the next; a commit has an entry; a refused commit leaves nothing."""
    async with subject.open() as store:
        for first in (commit(1, "a"), commit(-1, "a")):
            await expect_raises(ValueError, store.create("gaps", first), "a task begins with version 0")
        expect(await store.load("gaps") is None, "a refused create leaves nothing")
        await store.create("gaps", commit(0, "a"))
        for version in (2, -1, 7):
            odd = store.append("gaps", after=1, commit=commit(version, "b"))
            await expect_raises(ValueError, odd, f"version {version} does not follow version 0")
        nul = store.append("gaps", after=1, commit=commit(1, "ok", "not\0ok"))
        await expect_raises(ValueError, nul, "a body with a NUL character is refused")
        lone = store.append("gaps", after=1, commit=commit(1, "ok", "\ud800"))
        await expect_raises(ValueError, lone, "a body with a lone surrogate is refused")
        expect(bodies(await store.load("gaps")) == ["a"], "a refused commit leaves nothing")


async def a_saved_commit_cannot_be_changed(subject: CheckpointSubject) -> None:
    """Whoever keeps the list it gave, and changes it, changes nothing that was saved."""
    async with subject.open() as store:
        given = commit(0, "a")
        mine = list(given.entries)
        object.__setattr__(given, "entries", mine)
        await store.create("mutated", given)
        mine.append(mine[0])
        mine[0] = commit(0, "changed").entries[0]
        expect(bodies(await store.load("mutated")) == ["a"], "what was saved is not what the caller still holds")


async def a_thousand_saves_in_a_millisecond_are_in_order(subject: CheckpointSubject) -> None:
    """Order is a count, never a time: equal times, and a clock that steps back, change nothing."""
    async with subject.open() as store:
        await store.create("millisecond", commit(0, at=5.0))
        for number in range(1, _SAVES_IN_A_MILLISECOND + 1):
            at = 5.0 if number % 2 else 4.0
            await store.append("millisecond", after=number, commit=commit(number, f"{number}", at=at))
        events = await store.events("millisecond", after=1)
        wanted = [str(number) for number in range(1, _SAVES_IN_A_MILLISECOND + 1)]
        expect([entry.body for entry in events] == wanted, "entries stand in the order in which they were saved")


async def events_begin_after_a_position(subject: CheckpointSubject) -> None:
    """All kept entries after it, oldest first, whatever snapshots there are."""
    async with subject.open() as store:
        await store.create("events", commit(0, "a", "b"))
        await store.append("events", after=2, commit=commit(1, "c", snapshot="S"))
        for after, wanted in ((0, "abc"), (1, "bc"), (2, "c"), (3, ""), (9, "")):
            found = "".join(entry.body for entry in await store.events("events", after=after))
            expect(found == wanted, f"events after {after} are {wanted!r}")


async def tasks_are_found_by_their_headline(subject: CheckpointSubject) -> None:
    """Each condition, all of them together, most recently updated first, at most `limit`."""
    kind: dict[str, Any] = {"task_type": "found"}
    async with subject.open() as store:
        await store.create("found-1", commit(0, at=1.0, status="RUNNING", **kind))
        await store.create("found-2", commit(0, at=2.0, status="AWAITING_APPROVAL", wake_at_wall=50.0, **kind))
        await store.create("found-3", commit(0, at=3.0, status="SUCCEEDED", finished=True, **kind))
        await store.append("found-1", after=1, commit=commit(1, at=9.0, status="RUNNING", **kind))

        async def found(**conditions: Any) -> str:
            query = TaskQuery(**{"task_type": "found", **conditions})
            return "".join(task.task_id[-1] for task in await store.tasks(query))

        asked: tuple[tuple[dict[str, Any], str], ...] = (
            ({}, "132"),
            ({"limit": 2}, "13"),
            ({"status": "RUNNING"}, "1"),
            ({"finished": True}, "3"),
            ({"finished": False}, "12"),
            ({"due_wall": 50.0}, "2"),
            ({"due_wall": 49.9}, ""),
            ({"updated_before_wall": 3.0}, "2"),
            ({"finished": False, "updated_before_wall": 3.0}, "2"),
            ({"task_type": "nothing"}, ""),
        )
        for conditions, wanted in asked:
            expect(await found(**conditions) == wanted, f"tasks with {conditions} are {wanted!r}")
        [task] = await store.tasks(TaskQuery(task_type="found", status="RUNNING"))
        expect((task.created_wall, task.updated_wall) == (1.0, 9.0), "a task has its first and its last moment")
        expect((task.position, task.version) == (2, 1), "a task's line tells where its log ends")


async def pruning_keeps_what_is_needed(subject: CheckpointSubject) -> None:
    """Every version from `below` on loads as before; what is pinned, the latest state and other tasks stay."""
    async with subject.open() as store:
        await _long_task(store, "pruned")
        await _long_task(store, "neighbour")
        before = [await store.load("pruned", version=version) for version in range(9)]
        neighbour = await store.events("neighbour")
        removed = await store.prune("pruned", below=5)
        after = [await store.load("pruned", version=version) for version in range(9)]
        expect(removed > 0, "what no later version needs is removed, and counted")
        expect(after[5:] == before[5:], "versions from `below` on are as before")
        expect(after[0] is None, "a version that was pruned is None, never a part of it")
        expect(await store.prune("pruned", below=5) == 0, "pruning again removes nothing")
        expect(await store.events("neighbour") == neighbour, "other tasks are not touched")
        latest = await store.load("pruned")
        await store.prune("pruned", below=999)
        expect(await store.load("pruned") == latest, "the latest state is never pruned")
        await store.append("pruned", after=18, commit=commit(9, "more"))
        expect(bodies(await store.load("pruned"))[-1] == "more", "a pruned log grows on")


async def a_version_that_was_pruned_is_none(subject: CheckpointSubject) -> None:
    """Also when nothing but the last snapshot is left: what was pruned is not taken for damage."""
    async with subject.open() as store:
        await store.create("bare", commit(0, "a"))
        await store.append("bare", after=1, commit=commit(1, "b", snapshot="S"))
        expect(await store.prune("bare", below=1) == 2, "both entries are removed")
        expect(await store.load("bare", version=0) is None, "a version that was pruned is None")
        expect(await store.events("bare") == (), "no entry is left")
        latest = _there(await store.load("bare"))
        expect((latest.position, latest.version) == (2, 1), "the state is where it was")
        expect(await store.append("bare", after=2, commit=commit(2, "c")) == 3, "and it grows on")


async def pruning_never_passes_what_is_open(subject: CheckpointSubject) -> None:
    """An open intent or approval pins its version: its entries and its state stay until it is closed."""
    async with subject.open() as store:
        await _long_task(store, "pinned", pinned_version=3)
        before = [await store.load("pinned", version=version) for version in range(3, 9)]
        events = [entry for entry in await store.events("pinned") if entry.version >= 3]
        await store.prune("pinned", below=999)
        after = [await store.load("pinned", version=version) for version in range(3, 9)]
        kept = [entry for entry in await store.events("pinned") if entry.version >= 3]
        expect(after == before, "the state of the pinned version and of later ones stays")
        expect(kept == events, "every entry of the pinned version and of later ones stays")


async def only_a_finished_task_is_forgotten(subject: CheckpointSubject) -> None:
    """A running one is refused; a finished one is gone without a trace, and its id is free."""
    async with subject.open() as store:
        await _long_task(store, "running")
        await _long_task(store, "finished", finished=True)
        await expect_raises(ValueError, store.prune("running"), "a task that runs is not forgotten")
        expect(len(await store.events("running")) == 18, "a refused forgetting removes nothing")
        expect(await store.prune("finished") > 0, "a finished task is forgotten, and its rows are counted")
        expect(await store.load("finished") is None, "a forgotten task is gone")
        expect(await store.events("finished") == (), "with its entries")
        expect(bodies(await store.create("finished", commit(0, "new"))) == ["new"], "its id is free again")


async def _long_task(store: Checkpoints, task_id: str, **headline: Any) -> None:
    """Versions 0 to 8, two entries each, a snapshot at every third."""
    await store.create(task_id, commit(0, "0a", "0b", **headline))
    for version in range(1, 9):
        snapshot = f"S{version}" if version % 3 == 0 else None
        told = commit(version, f"{version}a", f"{version}b", snapshot=snapshot, **headline)
        await store.append(task_id, after=2 * version, commit=told)


def _there(log: Log | None) -> Log:
    if log is None:
        raise AssertionError("a task that was created is there")
    return log


LOG_CHECKS = (
    admission_is_idempotent,
    what_is_read_is_what_was_written,
    an_older_version_is_as_it_was,
    a_task_nobody_created_is_nothing,
    a_stale_append_changes_nothing,
    versions_have_no_gaps,
    a_saved_commit_cannot_be_changed,
    a_thousand_saves_in_a_millisecond_are_in_order,
    events_begin_after_a_position,
    tasks_are_found_by_their_headline,
    pruning_keeps_what_is_needed,
    a_version_that_was_pruned_is_none,
    pruning_never_passes_what_is_open,
    only_a_finished_task_is_forgotten,
)
