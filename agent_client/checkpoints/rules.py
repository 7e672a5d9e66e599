"""What every store does alike: which commits are legal, what they become, how a log is read and what may be forgotten."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent_client.checkpoints.rows import ORIGIN, EntryRow, Seal, SnapshotRow, TaskRow
from agent_client.journal import Commit, CorruptLog, Entry, Log, Snapshot, Task

_MAX_TASK_ID: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What one commit adds, whole."""

    head: TaskRow
    entries: tuple[EntryRow, ...]
    snapshot: SnapshotRow | None


def admit(seal: Seal, task_id: str, first: Commit) -> Written:
    """The rows of a task's first commit.

    Raises:
        ValueError: it is not the first commit of a task, or holds what no store keeps.
    """
    if not 0 < len(task_id) <= _MAX_TASK_ID or not task_id.isprintable():
        raise ValueError("a task id is 1 to 255 printable characters")
    if first.version != 0:
        raise ValueError("the first commit of a task has version 0")
    return _written(seal, task_id, first, position=0, last=ORIGIN, created_wall=first.at_wall)


def follow(seal: Seal, head: TaskRow, commit: Commit) -> Written:
    """The rows of a commit after `head`.

    Raises:
        ValueError: its version is neither that of the log nor the next, or it holds what no store keeps.
    """
    task = head.task
    if commit.version not in (task.version, task.version + 1):
        raise ValueError(f"a commit after version {task.version} cannot have version {commit.version}")
    return _written(seal, task.task_id, commit, position=task.position, last=head.last, created_wall=task.created_wall)


def read(
    seal: Seal,
    head: TaskRow,
    snapshot: SnapshotRow | None,
    entries: Sequence[EntryRow],
    *,
    version: int | None = None,
) -> Log | None:
    """The log made of `snapshot` and all entries after it; None: it was pruned too far for that.

    With `version`, `snapshot` is not of a later one, and entries of later ones are read, proved and left out.

    Raises:
        CorruptLog: the rows are not those that were written.
    """
    task = head.task
    check_head(seal, head)
    position, last, at = 0, ORIGIN, 0
    if snapshot is not None:
        kept = snapshot.snapshot
        if seal.snapshot(snapshot.after, task.task_id, kept) != snapshot.digest:
            raise _damaged(task, f"the snapshot at {kept.position} was changed")
        position, last, at = kept.position, snapshot.after, kept.version
    elif version is not None and (not entries or entries[0].entry.position != 1):
        return None
    begin = (position, last, at)
    end, last = _walk(seal, task, entries, begin)
    if (end, last) != (task.position, head.last):
        raise _damaged(task, f"it ends at {end} and not at {task.position}")
    wanted = tuple(row.entry for row in entries if version is None or row.entry.version <= version)
    if not wanted and snapshot is None:
        return None
    return Log(
        task_id=task.task_id,
        position=wanted[-1].position if wanted else position,
        version=wanted[-1].version if wanted else at,
        headline=task.headline,
        snapshot=None if snapshot is None else snapshot.snapshot,
        entries=wanted,
    )


def check_head(seal: Seal, head: TaskRow) -> None:
    """Raises CorruptLog when a task's line is not the one that was written."""
    if seal.task(head.last, head.task) != head.digest:
        raise _damaged(head.task, "its headline was changed")


def events(
    seal: Seal, head: TaskRow, rows: Sequence[EntryRow], anchors: Mapping[int, str], *, after: int
) -> tuple[Entry, ...]:
    """Entries for a reader, who is told of damage and never given it.

    `rows` are all that are kept from position `after` on; `anchors` are the digests that snapshots kept of entries.

    Raises:
        CorruptLog: between the first row and the task's last, one is missing or was changed.
    """
    check_head(seal, head)
    if rows:
        first = rows[0]
        before = ORIGIN if first.entry.position == 1 else anchors.get(first.entry.position - 1)
        # The entry before it was pruned with its snapshot: its digest alone is taken as given.
        proved = rows[1:] if before is None else rows
        start = (first.entry.position, first.digest, first.entry.version)
        if before is not None:
            start = (first.entry.position - 1, before, first.entry.version)
        if _walk(seal, head.task, proved, start) != (head.task.position, head.last):
            raise _damaged(head.task, "its last entries are missing")
    return tuple(row.entry for row in rows if row.entry.position > after)


def floor_of(task: Task, below: int) -> int:
    """The oldest version that pruning `below` must leave readable."""
    pinned = task.headline.pinned_version
    return min(below, task.version, task.version if pinned is None else pinned)


def forgettable(task: Task) -> None:
    """Raises ValueError when a task must not be forgotten as a whole."""
    if not task.headline.finished:
        raise ValueError(f"task {task.task_id} is not finished: it cannot be forgotten")
    if task.headline.pinned_version is not None:
        raise ValueError(f"task {task.task_id} has something open: it cannot be forgotten")


def _written(seal: Seal, task_id: str, commit: Commit, *, position: int, last: str, created_wall: float) -> Written:
    if not commit.entries:
        raise ValueError("a commit has at least one entry")
    rows: list[EntryRow] = []
    for number, new in enumerate(commit.entries, start=position + 1):
        _check_text(new.kind, new.body)
        entry = Entry(
            position=number, version=commit.version, kind=new.kind, at_wall=float(commit.at_wall), body=new.body
        )
        last = seal.entry(last, task_id, entry)
        rows.append(EntryRow(entry=entry, digest=last))
    end = rows[-1].entry.position
    snapshot: SnapshotRow | None = None
    if commit.snapshot is not None:
        _check_text(commit.snapshot)
        kept = Snapshot(position=end, version=commit.version, body=commit.snapshot)
        snapshot = SnapshotRow(snapshot=kept, after=last, digest=seal.snapshot(last, task_id, kept))
    head = commit.headline
    _check_text(head.task_type, head.status, head.reason)
    task = Task(
        task_id=task_id,
        position=end,
        version=commit.version,
        created_wall=float(created_wall),
        updated_wall=float(commit.at_wall),
        headline=head,
    )
    return Written(
        head=TaskRow(task=task, last=last, digest=seal.task(last, task)), entries=tuple(rows), snapshot=snapshot
    )


def _check_text(*texts: str) -> None:
    for text in texts:
        # One store would cut it, another refuse it; JSON writes both as escapes.
        if "\0" in text:
            raise ValueError("text with a NUL character cannot be stored")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("text with a lone surrogate cannot be stored") from None


def _walk(seal: Seal, task: Task, entries: Sequence[EntryRow], start: tuple[int, str, int]) -> tuple[int, str]:
    position, last, version = start
    for row in entries:
        entry = row.entry
        if entry.position != position + 1:
            raise _damaged(task, f"the entry after {position} is missing")
        if entry.version not in (version, version + 1):
            raise _damaged(task, f"version {entry.version} follows version {version}")
        last = seal.entry(last, task.task_id, entry)
        if last != row.digest:
            raise _damaged(task, f"the entry at {entry.position} was changed")
        position, version = entry.position, entry.version
    return position, last


def _damaged(task: Task, what: str) -> CorruptLog:
    return CorruptLog(f"the log of task {task.task_id} is damaged: {what}")
