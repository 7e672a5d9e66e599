"""The port's methods as transactions in SQL. SQLite and Postgres differ in how they connect, and in nothing here."""

from typing import Any, Final, Self

from agent_client.checkpoints import rules
from agent_client.checkpoints.rows import EntryRow, Seal, SnapshotRow, TaskRow
from agent_client.checkpoints.sessions import Session, Sessions, Value
from agent_client.journal import (
    CheckpointsUnavailable,
    Commit,
    Entry,
    Headline,
    Log,
    Snapshot,
    StaleVersion,
    Task,
    TaskQuery,
)

_HEAD: Final = (
    "task_id, position, version, created_wall, updated_wall, task_type, status, reason, finished, wake_at_wall,"
    " pinned_version, last, digest"
)
_INSERT_TASK: Final = (
    "INSERT INTO checkpoint_tasks (task_id, position, version, created_wall, updated_wall, task_type, status, reason,"
    " finished, wake_at_wall, pinned_version, last, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO NOTHING"
)
_MOVE_TASK: Final = (
    "UPDATE checkpoint_tasks SET position = ?, version = ?, created_wall = ?, updated_wall = ?, task_type = ?,"
    " status = ?, reason = ?, finished = ?, wake_at_wall = ?, pinned_version = ?, last = ?, digest = ?"
    " WHERE task_id = ? AND position = ?"
)
_INSERT_ENTRY: Final = (
    "INSERT INTO checkpoint_entries (task_id, position, version, kind, at_wall, body, digest)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_SNAPSHOT: Final = (
    "INSERT INTO checkpoint_snapshots (task_id, position, version, body, after, digest) VALUES (?, ?, ?, ?, ?, ?)"
)
_SELECT_TASK: Final = f"SELECT {_HEAD} FROM checkpoint_tasks WHERE task_id = ?"  # noqa: S608 - of constants
_SELECT_ENTRIES: Final = (
    "SELECT position, version, kind, at_wall, body, digest FROM checkpoint_entries"
    " WHERE task_id = ? AND position >= ? ORDER BY position"
)
_SELECT_SNAPSHOT: Final = (
    "SELECT position, version, body, after, digest FROM checkpoint_snapshots"
    " WHERE task_id = ? AND version <= ? ORDER BY position DESC LIMIT 1"
)
_SELECT_ANCHORS: Final = "SELECT position, after FROM checkpoint_snapshots WHERE task_id = ? AND position >= ?"
_TABLES: Final = ("checkpoint_snapshots", "checkpoint_entries", "checkpoint_tasks")
_CONDITIONS: Final = (
    ("status", "status = ?"),
    ("task_type", "task_type = ?"),
    ("finished", "finished = ?"),
    ("due_wall", "wake_at_wall <= ?"),
    ("updated_before_wall", "updated_wall < ?"),
)


class SqlCheckpoints:
    """An `agent_client.ports.Checkpoints` on sessions of a SQL database."""

    def __init__(self, sessions: Sessions[Any], seal: Seal) -> None:
        self._sessions = sessions
        self._seal = seal

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let what has begun end, and close every connection."""
        self._sessions.close()

    async def create(self, task_id: str, first: Commit) -> Log:
        """As the port says."""
        written = rules.admit(self._seal, task_id, first)

        def work(session: Session) -> None:
            _, new = session.execute(_INSERT_TASK, _head_values(written.head))
            if new:
                _add(session, task_id, written)

        def both(session: Session) -> Log | None:
            session.run(work, writes=True)
            # Apart from the writing: only a transaction that reads is of one moment in every database.
            return session.run(lambda inner: self._latest(inner, task_id), writes=False)

        log = await self._sessions.run(both)
        if log is None:
            raise CheckpointsUnavailable(f"task {task_id} was forgotten while it was created")
        return log

    async def load(self, task_id: str, *, version: int | None = None) -> Log | None:
        """As the port says."""
        if version is None:
            return await self._sessions.run(
                lambda session: session.run(lambda inner: self._latest(inner, task_id), writes=False)
            )

        def work(session: Session) -> Log | None:
            head = _head(session, _SELECT_TASK, task_id)
            if head is None or not 0 <= version <= head.task.version:
                return None
            return self._read(session, head, version)

        return await self._sessions.run(lambda session: session.run(work, writes=False))

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        """As the port says."""

        def work(session: Session) -> int:
            head = _head(session, _SELECT_TASK, task_id)
            if head is None or head.task.position != after:
                raise StaleVersion(task_id, expected=after)
            rules.check_head(self._seal, head)
            written = rules.follow(self._seal, head, commit)
            key, *moved = _head_values(written.head)
            # Two that read the same position: the row lets one of them move it.
            _, won = session.execute(_MOVE_TASK, (*moved, key, after))
            if not won:
                raise StaleVersion(task_id, expected=after)
            _add(session, task_id, written)
            return written.head.task.position

        return await self._sessions.run(lambda session: session.run(work, writes=True))

    async def events(self, task_id: str, *, after: int = 0) -> tuple[Entry, ...]:
        """As the port says."""

        def work(session: Session) -> tuple[Entry, ...]:
            head = _head(session, _SELECT_TASK, task_id)
            if head is None:
                return ()
            anchors, _ = session.execute(_SELECT_ANCHORS, (task_id, after))
            rows = _entries(session, task_id, after)
            return rules.events(self._seal, head, rows, dict(anchors), after=after)

        return await self._sessions.run(lambda session: session.run(work, writes=False))

    async def tasks(self, query: TaskQuery) -> tuple[Task, ...]:
        """As the port says."""
        asked = [(column, getattr(query, name)) for name, column in _CONDITIONS if getattr(query, name) is not None]
        where = f" WHERE {' AND '.join(condition for condition, _ in asked)}" if asked else ""
        values = [int(value) if isinstance(value, bool) else value for _, value in asked]
        statement = f"SELECT {_HEAD} FROM checkpoint_tasks{where} ORDER BY updated_wall DESC, task_id LIMIT ?"  # noqa: S608 - of constants

        def work(session: Session) -> tuple[Task, ...]:
            rows, _ = session.execute(statement, (*values, query.limit))
            heads = [_task_row(row) for row in rows]
            for head in heads:
                rules.check_head(self._seal, head)
            return tuple(head.task for head in heads)

        return await self._sessions.run(lambda session: session.run(work, writes=False))

    async def prune(self, task_id: str, *, below: int | None = None) -> int:
        """As the port says."""

        def work(session: Session) -> int:
            head = _head(session, _SELECT_TASK + session.locking, task_id)
            if head is None:
                return 0
            if below is None:
                rules.forgettable(head.task)
                forget = [f"DELETE FROM {table} WHERE task_id = ?" for table in _TABLES]  # noqa: S608 - of constants
                counts = [session.execute(statement, (task_id,))[1] for statement in forget]
                return sum(counts) - counts[-1]
            base = _snapshot(session, task_id, rules.floor_of(head.task, below))
            if base is None:
                return 0
            at, pinned = base.snapshot.position, head.task.headline.pinned_version
            old = "DELETE FROM checkpoint_snapshots WHERE task_id = ? AND position < ?"
            _, snapshots = session.execute(old, (task_id, at))
            spent = "DELETE FROM checkpoint_entries WHERE task_id = ? AND position <= ? AND version < ?"
            limit = head.task.version + 1 if pinned is None else pinned
            _, entries = session.execute(spent, (task_id, at, limit))
            return snapshots + entries

        return await self._sessions.run(lambda session: session.run(work, writes=True))

    def _latest(self, session: Session, task_id: str) -> Log | None:
        head = _head(session, _SELECT_TASK, task_id)
        return None if head is None else self._read(session, head, None)

    def _read(self, session: Session, head: TaskRow, version: int | None) -> Log | None:
        task = head.task
        base = _snapshot(session, task.task_id, task.version if version is None else version)
        rows = _entries(session, task.task_id, 1 if base is None else base.snapshot.position + 1)
        return rules.read(self._seal, head, base, rows, version=version)


def _add(session: Session, task_id: str, written: rules.Written) -> None:
    for row in written.entries:
        entry = row.entry
        values = (entry.position, entry.version, entry.kind, entry.at_wall, entry.body, row.digest)
        session.execute(_INSERT_ENTRY, (task_id, *values))
    if written.snapshot is not None:
        kept = written.snapshot.snapshot
        after, digest = written.snapshot.after, written.snapshot.digest
        session.execute(_INSERT_SNAPSHOT, (task_id, kept.position, kept.version, kept.body, after, digest))


def _head(session: Session, statement: str, task_id: str) -> TaskRow | None:
    rows, _ = session.execute(statement, (task_id,))
    return _task_row(rows[0]) if rows else None


def _entries(session: Session, task_id: str, position: int) -> list[EntryRow]:
    rows, _ = session.execute(_SELECT_ENTRIES, (task_id, position))
    return [
        EntryRow(entry=Entry(position=at, version=version, kind=kind, at_wall=wall, body=body), digest=digest)
        for at, version, kind, wall, body, digest in rows
    ]


def _snapshot(session: Session, task_id: str, version: int) -> SnapshotRow | None:
    rows, _ = session.execute(_SELECT_SNAPSHOT, (task_id, version))
    if not rows:
        return None
    position, at, body, after, digest = rows[0]
    return SnapshotRow(snapshot=Snapshot(position=position, version=at, body=body), after=after, digest=digest)


def _head_values(head: TaskRow) -> tuple[Value, ...]:
    task, line = head.task, head.task.headline
    times = (task.created_wall, task.updated_wall)
    wake = None if line.wake_at_wall is None else float(line.wake_at_wall)
    told = (line.task_type, line.status, line.reason, int(line.finished), wake, line.pinned_version)
    return (task.task_id, task.position, task.version, *times, *told, head.last, head.digest)


def _task_row(row: tuple[Any, ...]) -> TaskRow:
    task_id, position, version, created, updated, task_type, status, reason, finished, wake, pinned, last, digest = row
    headline = Headline(
        task_type=task_type,
        status=status,
        reason=reason,
        finished=bool(finished),
        wake_at_wall=wake,
        pinned_version=pinned,
    )
    task = Task(
        task_id=task_id,
        position=position,
        version=version,
        created_wall=created,
        updated_wall=updated,
        headline=headline,
    )
    return TaskRow(task=task, last=last, digest=digest)
