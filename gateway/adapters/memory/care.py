"""Which record of the store of tests needs care, and who gives it. All times are seconds of the store's clock."""

from dataclasses import dataclass

from gateway.stages.execute.operation.record import OWNED, Record, State


@dataclass(slots=True)
class _Entry:
    due_at: float | None = None
    token: str | None = None
    until: float = 0.0


class Care:
    """What the store knows of its records beside them."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def follow(self, record: Record, before: Record | None, now: float) -> None:
        """A record was stored in place of `before`: say from when it needs care."""
        entry = self._entries.setdefault(record.key, _Entry())
        if record.state in OWNED:
            entry.due_at = record.lease_until
        elif record.state is not State.UNKNOWN:
            entry.due_at = None
        elif before is None or before.state is not State.UNKNOWN:
            entry.due_at = now

    def due(self, now: float, limit: int) -> tuple[str, ...]:
        """Keys of records that need care and have none, the longest due first."""
        due = [
            (entry.due_at, key)
            for key, entry in self._entries.items()
            if entry.due_at is not None and entry.due_at <= now and entry.until <= now
        ]
        # Of those due together the oldest first, as they stand in the dictionary.
        return tuple(key for _, key in sorted(due, key=lambda it: it[0])[:limit])

    def is_free(self, key: str, token: str, now: float) -> bool:
        """Whether `token` may take the record, or has it."""
        entry = self._entries[key]
        return entry.until <= now or entry.token == token

    def lease(self, key: str, token: str, until: float) -> None:
        """Give the record to `token`."""
        self._entries[key].token = token
        self._entries[key].until = until

    def release(self, record: Record, token: str, next_look_at: float) -> None:
        """Take the record back from `token`, if it has it; what is still unknown is due again then."""
        entry = self._entries[record.key]
        if entry.token != token:
            return
        entry.token, entry.until = None, 0.0
        if record.state is State.UNKNOWN:
            entry.due_at = next_look_at
