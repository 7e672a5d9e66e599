"""Which commits are legal, how a log is read, and what may be forgotten."""

from dataclasses import replace

import pytest

from agent_client.checkpoints import rules
from agent_client.checkpoints.rows import Seal, TaskRow
from agent_client.journal import Commit, CorruptLog, Headline, Task
from agent_client.testing.checkpoints import commit

SEAL = Seal()


def grown(*commits: Commit) -> list[rules.Written]:
    """What these commits become, one after the other."""
    written = [rules.admit(SEAL, "t", commits[0])]
    for one in commits[1:]:
        written.append(rules.follow(SEAL, written[-1].head, one))
    return written


@pytest.mark.parametrize("task_id", ["", "x" * 256, "line\nbreak", "nul\0"])
def test_a_task_id_can_be_shown(task_id: str) -> None:
    """1 to 255 printable characters: it stands in lists, lines and paths of people."""
    with pytest.raises(ValueError, match="task id"):
        rules.admit(SEAL, task_id, commit(0))


def test_a_commit_without_an_entry_is_none() -> None:
    """A version that nothing led to could not be replayed."""
    empty = Commit(version=0, at_wall=0.0, entries=(), headline=Headline(task_type="t", status="s"))
    with pytest.raises(ValueError, match="at least one entry"):
        rules.admit(SEAL, "t", empty)


def test_a_headline_is_checked_like_a_body() -> None:
    """One store would cut a NUL, another refuse it."""
    with pytest.raises(ValueError, match="NUL"):
        rules.admit(SEAL, "t", commit(0, reason="a\0b"))
    with pytest.raises(ValueError, match="NUL"):
        rules.admit(SEAL, "t", commit(0, snapshot="a\0b"))


def test_entries_out_of_order_are_damage() -> None:
    """Rows that were read in another order, or twice."""
    first, second = grown(commit(0, "a"), commit(1, "b"))
    rows = [*first.entries, *second.entries]

    assert rules.read(SEAL, second.head, None, rows) is not None
    for damaged in (rows[::-1], [*rows, rows[-1]], rows[:1], [], [rows[1]]):
        with pytest.raises(CorruptLog):
            rules.read(SEAL, second.head, None, damaged)


def test_a_version_that_jumps_is_damage_even_when_its_digest_is_right() -> None:
    """Whoever has the key and writes nonsense is still not believed."""
    [first] = grown(commit(0, "a"))
    odd = replace(first.entries[0].entry, position=2, version=5)
    digest = SEAL.entry(first.entries[0].digest, "t", odd)
    task = replace(first.head.task, position=2, version=5)
    head = TaskRow(task=task, last=digest, digest=SEAL.task(digest, task))
    rows = [*first.entries, replace(first.entries[0], entry=odd, digest=digest)]
    with pytest.raises(CorruptLog, match="version 5 follows version 0"):
        rules.read(SEAL, head, None, rows)


def test_events_after_pruning_begin_where_a_snapshot_left_a_digest() -> None:
    """The first entry that is kept is proved by it; without one it is taken, and all after it are proved."""
    first, second, third = grown(commit(0, "a", snapshot="S"), commit(1, "b"), commit(2, "c"))
    rows = [*second.entries, *third.entries]
    assert first.snapshot is not None
    anchors = {1: first.snapshot.after}
    forged = [replace(rows[0], entry=replace(rows[0].entry, body="forged")), rows[1]]

    assert [entry.body for entry in rules.events(SEAL, third.head, rows, anchors, after=0)] == ["b", "c"]
    assert [entry.body for entry in rules.events(SEAL, third.head, rows, anchors, after=2)] == ["c"]
    with pytest.raises(CorruptLog):
        rules.events(SEAL, third.head, forged, anchors, after=0)
    with pytest.raises(CorruptLog):
        rules.events(SEAL, third.head, rows[:1], anchors, after=0)


@pytest.mark.parametrize(("below", "pinned", "floor"), [(3, None, 3), (9, None, 7), (9, 4, 4), (2, 4, 2), (9, 8, 7)])
def test_pruning_stops_at_the_first_thing_that_is_needed(below: int, pinned: int | None, floor: int) -> None:
    """What was asked, what is open, and the latest version: the lowest of them."""
    headline = Headline(task_type="t", status="s", pinned_version=pinned)
    task = Task(task_id="t", position=9, version=7, created_wall=0, updated_wall=0, headline=headline)

    assert rules.floor_of(task, below) == floor


@pytest.mark.parametrize(("finished", "pinned"), [(False, None), (True, 3)])
def test_what_is_open_is_not_forgotten(finished: bool, pinned: int | None) -> None:  # noqa: FBT001
    """A finished task with an open intent is not done with the world."""
    headline = Headline(task_type="t", status="s", finished=finished, pinned_version=pinned)
    task = Task(task_id="t", position=9, version=7, created_wall=0, updated_wall=0, headline=headline)
    with pytest.raises(ValueError, match="cannot be forgotten"):
        rules.forgettable(task)
