"""The suite tells all that a store does wrong, and bites on each kind of wrong."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.journal import Commit, Entry, Log, StaleVersion, Task, TaskQuery
from agent_client.testing import CheckpointSubject, NotConformant, checkpoint_conformance


class LastWriterWins(MemoryCheckpoints):
    """Reloads and goes on, as stores do that have no lock."""

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        log = await self.load(task_id)
        if log is None:
            raise StaleVersion(task_id, expected=after)
        return await super().append(task_id, after=log.position, commit=commit)


class Overwrites(MemoryCheckpoints):
    """A second admission replaces the first."""

    async def create(self, task_id: str, first: Commit) -> Log:
        log = await super().create(task_id, first)
        if log.entries and log.entries[0].body != first.entries[0].body:
            self._tasks.pop(task_id)
            return await super().create(task_id, first)
        return log


class ForgetsNotes(MemoryCheckpoints):
    """An older version without its notes."""

    async def load(self, task_id: str, *, version: int | None = None) -> Log | None:
        log = await super().load(task_id, version=version)
        if log is None or version is None or log.snapshot is None:
            return log
        return Log(
            task_id=log.task_id,
            position=log.snapshot.position,
            version=log.version,
            headline=log.headline,
            snapshot=log.snapshot,
            entries=(),
        )


class PrunesEverything(MemoryCheckpoints):
    """Whatever is open."""

    async def prune(self, task_id: str, *, below: int | None = None) -> int:
        kept = self._tasks.get(task_id)
        if kept is None:
            return 0
        if below is None:
            del self._tasks[task_id]
            return 1
        removed = len(kept.entries)
        kept.entries = kept.entries[-1:] if not kept.snapshots else []
        return removed


class OrdersByTime(MemoryCheckpoints):
    """Events by the worker's clock."""

    async def events(self, task_id: str, *, after: int = 0) -> tuple[Entry, ...]:
        found = await super().events(task_id, after=after)
        return tuple(sorted(found, key=lambda entry: entry.at_wall))


class ListsAll(MemoryCheckpoints):
    """Conditions are ignored."""

    async def tasks(self, query: TaskQuery) -> tuple[Task, ...]:
        return await super().tasks(TaskQuery(task_type=query.task_type))


def subject(store: MemoryCheckpoints) -> CheckpointSubject:
    @contextlib.asynccontextmanager
    async def opener() -> AsyncIterator[MemoryCheckpoints]:
        yield store

    return CheckpointSubject(opener=opener)


@pytest.mark.parametrize(
    ("store", "caught"),
    [
        (LastWriterWins(), {"a_stale_append_changes_nothing", "one_of_many_appends_wins"}),
        (Overwrites(), {"admission_is_idempotent"}),
        (ForgetsNotes(), {"an_older_version_is_as_it_was"}),
        (PrunesEverything(), {"pruning_never_passes_what_is_open", "only_a_finished_task_is_forgotten"}),
        (OrdersByTime(), {"a_thousand_saves_in_a_millisecond_are_in_order"}),
        (ListsAll(), {"tasks_are_found_by_their_headline"}),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_store_that_breaks_a_promise_is_caught(store: MemoryCheckpoints, caught: set[str]) -> None:
    """By the check whose promise it is."""
    with pytest.raises(NotConformant) as raised:
        await checkpoint_conformance(subject(store))

    assert caught <= raised.value.broken.keys()


async def test_a_store_that_keeps_them_passes() -> None:
    """Without a shared store the checks with processes are left out."""
    await checkpoint_conformance(subject(MemoryCheckpoints()))


def test_a_subject_must_say_how_it_is_opened() -> None:
    """Neither way given: nothing can be proved."""
    with pytest.raises(ValueError, match="shared or opener"):
        CheckpointSubject().open()
