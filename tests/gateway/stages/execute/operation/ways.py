"""The canonical records of a walk, one object for each, and where every step leads from there: it is taken once."""

from collections.abc import Callable, Hashable
from typing import Final

from gateway.contract.changed import changed
from gateway.stages.execute.operation.record import Attempt, Bodies, Record

_NO_BODIES: Final = Bodies()
_SENT_BODIES: Final = Bodies(request=b"r")


class Ways:
    """Records that are equal for every future decision are one object, so that they are told apart by their address."""

    def __init__(self) -> None:
        self._one: dict[Hashable, Record] = {}
        self._after: dict[Hashable, tuple[Record, bool]] = {}

    def one(self, record: Record) -> Record:
        """This record, canonical: what no future decision reads is forgotten."""
        attempts = tuple(_read_of(attempt) for attempt in record.attempts)
        record = changed(
            record, version=1, fence=1, attempts=attempts, settled_wall=None, settled_by=None, outcome_code=None,
            created_wall=0.0, bodies=_SENT_BODIES if attempts else _NO_BODIES,
        )  # fmt: skip
        return self._one.setdefault(_identity(record), record)

    def after(self, record: Record, step: Callable[..., Record], *given: Hashable) -> tuple[Record, bool]:
        """Where a step, which is a pure function, leads from one of these; and whether it wrote anything."""
        key = (id(record), step, *given)
        found = self._after.get(key)
        if found is None:
            other = step(record, *given)
            found = self._after[key] = (record, False) if other is record else (self.one(other), True)
        return found


def _read_of(attempt: Attempt) -> Attempt:
    if attempt.fence == 0 and attempt.code is None and attempt.status is None:
        return attempt
    return changed(attempt, fence=0, code=None, status=None)


def _identity(record: Record) -> Hashable:
    """What makes two canonical records the same one."""
    attempts = tuple((a.acts_until, a.one_effect, a.knowledge) for a in record.attempts)
    return (record.state, record.owner, record.lease_until, attempts, record.closed_at, record.negatives)
