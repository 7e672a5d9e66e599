"""Rows as every store keeps them, and the chain of digests that makes a changed, lost or inserted row visible.

Each entry's digest covers the digest of the one before it, a snapshot's covers the entry it stands after, the task's
covers the last entry and the headline. With a key they are HMACs: who can write to the store but has not the key
cannot make a log that is accepted.
"""

import hashlib
import hmac
import json
from dataclasses import dataclass

from agent_client.journal import Entry, Snapshot, Task

ORIGIN = ""
"""What the first entry's digest follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """An entry with its digest."""

    entry: Entry
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRow:
    """A snapshot; `after` is the digest of the entry at its position, which may have been pruned."""

    snapshot: Snapshot
    after: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task's head; `last` is the digest of its last entry."""

    task: Task
    last: str
    digest: str


class Seal:
    """Digests of rows: SHA-256, or HMAC-SHA-256 with a key of 16 bytes or more."""

    def __init__(self, key: bytes | None = None) -> None:
        if key is not None and len(key) < 16:
            raise ValueError("the integrity key must have 16 bytes or more")
        self._key = key

    def entry(self, before: str, task_id: str, entry: Entry) -> str:
        """Of an entry that follows the one with the digest `before`."""
        at = entry.at_wall.hex()
        return self._digest("entry", before, task_id, entry.position, entry.version, entry.kind, at, entry.body)

    def snapshot(self, after: str, task_id: str, snapshot: Snapshot) -> str:
        """Of a snapshot that stands after the entry with the digest `after`."""
        return self._digest("snapshot", after, task_id, snapshot.position, snapshot.version, snapshot.body)

    def task(self, last: str, task: Task) -> str:
        """Of a task whose last entry has the digest `last`."""
        head = task.headline
        times = (task.created_wall.hex(), task.updated_wall.hex())
        wake = None if head.wake_at_wall is None else head.wake_at_wall.hex()
        named = (head.task_type, head.status, head.reason, head.finished, wake, head.pinned_version)
        return self._digest("task", last, task.task_id, task.position, task.version, *times, *named)

    def _digest(self, *parts: str | float | bool | None) -> str:
        # JSON of a list is unambiguous about where one part ends, and refuses nothing a row may hold.
        text = json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode()
        if self._key is None:
            return hashlib.sha256(text).hexdigest()
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()
