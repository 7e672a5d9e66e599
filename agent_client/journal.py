"""What a checkpoint store keeps: an append-only log of a task, and snapshots that shorten its reading.

The store knows nothing of loops. Bodies are JSON text that it neither reads nor changes; what it must find tasks by
stands in the headline.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One event as it is stored.

    Attributes:
        position: where it stands in its task's log; from 1, without gaps. `Checkpoints` gives it.
        version: the state's version once the commit it came with is applied. Several entries may share one.
        kind: the event's name.
        at_wall: seconds since 1970 UTC, as the worker's clock told them. Never compared to order anything.
        body: the event, JSON text.
    """

    position: int
    version: int
    kind: str
    at_wall: float
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An event that has no position yet."""

    kind: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The whole state, JSON text, as it stands after the entry at `position`."""

    position: int
    version: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What a list of tasks shows, written anew with every append.

    Attributes:
        status: the loop's status, such as RUNNING.
        reason: why it stands there; may be empty.
        finished: the status is terminal.
        wake_at_wall: when somebody should run the task again although nothing happened (an approval lapses then).
        pinned_version: pruning keeps every entry and the state of this version and later; None: nothing is open.
    """

    task_type: str
    status: str
    reason: str = ""
    finished: bool = False
    wake_at_wall: float | None = None
    pinned_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What becomes durable together, or not at all.

    Attributes:
        version: of the state after it; equal to the one before (a note) or one higher (a checkpoint).
        entries: at least one.
        snapshot: the state after the last of them, JSON text; None: the log is short enough to be read.
    """

    version: int
    at_wall: float
    entries: tuple[NewEntry, ...]
    headline: Headline
    snapshot: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A task as it is read: a snapshot, if there is one, and every entry after it, oldest first."""

    task_id: str
    position: int
    version: int
    headline: Headline
    snapshot: Snapshot | None
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One line of the list of tasks."""

    task_id: str
    position: int
    version: int
    created_wall: float
    updated_wall: float
    headline: Headline


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuery:
    """Conditions that all hold; most recently updated first.

    Attributes:
        due_wall: only tasks whose `wake_at_wall` is not later than this.
        updated_before_wall: only tasks not written to since.
    """

    status: str | None = None
    task_type: str | None = None
    finished: bool | None = None
    due_wall: float | None = None
    updated_before_wall: float | None = None
    limit: int = 100


class StaleVersion(Exception):  # noqa: N818 - a fact that stops a worker, not a fault
    """The log has grown since it was read: another worker has the task. Stop; do not reload and go on.

    Attributes:
        expected: the position the writer had read.
    """

    def __init__(self, task_id: str, *, expected: int) -> None:
        super().__init__(f"task {task_id} is no longer at position {expected}: another worker has taken it")
        self.task_id = task_id
        self.expected = expected


class CorruptLog(Exception):  # noqa: N818 - what was read, not what failed
    """What the store holds of a task is damaged: a gap, a changed row, an unreadable body. Nothing is run from it."""


class CheckpointsUnavailable(Exception):  # noqa: N818 - as the gateway's store says it
    """The store cannot be read or written now. What was being written may or may not have become durable."""
