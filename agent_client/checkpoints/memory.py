"""Checkpoints in memory: for tests and for tasks that need not survive their process."""

import threading
from dataclasses import dataclass, field

from agent_client.checkpoints import rules
from agent_client.checkpoints.rows import EntryRow, Seal, SnapshotRow, TaskRow
from agent_client.journal import Commit, Entry, Log, StaleVersion, Task, TaskQuery


@dataclass(slots=True)
class _Kept:
    head: TaskRow
    entries: list[EntryRow] = field(default_factory=list)
    snapshots: list[SnapshotRow] = field(default_factory=list)


class MemoryCheckpoints:
    """An `agent_client.ports.Checkpoints` that is gone with its process. One may be shared by threads."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Kept] = {}
        self._lock = threading.Lock()
        self._seal = Seal()

    async def create(self, task_id: str, first: Commit) -> Log:
        """As the port says."""
        written = rules.admit(self._seal, task_id, first)
        with self._lock:
            if task_id not in self._tasks:
                self._tasks[task_id] = _added(_Kept(head=written.head), written)
            return _loaded(self._seal, self._tasks[task_id])

    async def load(self, task_id: str, *, version: int | None = None) -> Log | None:
        """As the port says."""
        with self._lock:
            kept = self._tasks.get(task_id)
            if kept is None:
                return None
            if version is None:
                return _loaded(self._seal, kept)
            if not 0 <= version <= kept.head.task.version:
                return None
            base = _newest(kept.snapshots, version)
            after = 0 if base is None else base.snapshot.position
            entries = [row for row in kept.entries if row.entry.position > after]
            return rules.read(self._seal, kept.head, base, entries, version=version)

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        """As the port says."""
        with self._lock:
            kept = self._tasks.get(task_id)
            if kept is None or kept.head.task.position != after:
                raise StaleVersion(task_id, expected=after)
            written = rules.follow(self._seal, kept.head, commit)
            _added(kept, written)
            return written.head.task.position

    async def events(self, task_id: str, *, after: int = 0) -> tuple[Entry, ...]:
        """As the port says."""
        with self._lock:
            kept = self._tasks.get(task_id)
            if kept is None:
                return ()
            anchors = {row.snapshot.position: row.after for row in kept.snapshots}
            rows = [row for row in kept.entries if row.entry.position >= after]
            return rules.events(self._seal, kept.head, rows, anchors, after=after)

    async def tasks(self, query: TaskQuery) -> tuple[Task, ...]:
        """As the port says."""
        with self._lock:
            found = [kept.head.task for kept in self._tasks.values() if _fits(kept.head.task, query)]
        return tuple(sorted(found, key=lambda task: (-task.updated_wall, task.task_id))[: query.limit])

    async def prune(self, task_id: str, *, below: int | None = None) -> int:
        """As the port says."""
        with self._lock:
            kept = self._tasks.get(task_id)
            if kept is None:
                return 0
            task = kept.head.task
            before = len(kept.entries) + len(kept.snapshots)
            if below is None:
                rules.forgettable(task)
                del self._tasks[task_id]
                return before
            base = _newest(kept.snapshots, rules.floor_of(task, below))
            if base is None:
                return 0
            at, pinned = base.snapshot.position, task.headline.pinned_version
            kept.snapshots = [row for row in kept.snapshots if row.snapshot.position >= at]
            kept.entries = [
                row
                for row in kept.entries
                if row.entry.position > at or (pinned is not None and row.entry.version >= pinned)
            ]
            return before - len(kept.entries) - len(kept.snapshots)


def _added(kept: _Kept, written: rules.Written) -> _Kept:
    kept.head = written.head
    kept.entries.extend(written.entries)
    if written.snapshot is not None:
        kept.snapshots.append(written.snapshot)
    return kept


def _loaded(seal: Seal, kept: _Kept) -> Log:
    base = kept.snapshots[-1] if kept.snapshots else None
    after = 0 if base is None else base.snapshot.position
    log = rules.read(seal, kept.head, base, [row for row in kept.entries if row.entry.position > after])
    assert log is not None  # noqa: S101 - pruning never takes what the latest state needs
    return log


def _newest(snapshots: list[SnapshotRow], version: int) -> SnapshotRow | None:
    return next((row for row in reversed(snapshots) if row.snapshot.version <= version), None)


def _fits(task: Task, query: TaskQuery) -> bool:
    head = task.headline
    return (
        (query.status is None or head.status == query.status)
        and (query.task_type is None or head.task_type == query.task_type)
        and (query.finished is None or head.finished is query.finished)
        and (query.due_wall is None or (head.wake_at_wall is not None and head.wake_at_wall <= query.due_wall))
        and (query.updated_before_wall is None or task.updated_wall < query.updated_before_wall)
    )
