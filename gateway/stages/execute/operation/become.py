"""The one place where a record gets another state: what goes with that state, whatever led to it."""

from dataclasses import dataclass
from typing import Any, Final, TypedDict

from gateway.contract.changed import changed, changed_by
from gateway.contract.quick import quick
from gateway.stages.execute.operation.record import OWNED, SETTLED, Attempt, Bodies, Hold, Origin, Record, State
from gateway.stages.execute.operation.table import Event, cell


class Changes(TypedDict, total=False):
    """Fields of a record that a move changes beside its state."""

    owner: str
    fence: int
    lease_until: float
    attempts: tuple[Attempt, ...]
    origin: Origin
    fingerprint: str
    holds: tuple[Hold, ...]
    bodies: Bodies
    closed_at: float | None
    negatives: int
    negative_at: float | None
    settled_wall: float
    settled_by: str
    evidence: str | None
    approval_id: str | None
    approved_until: float | None
    repeat_of: str | None


_NONE: Final[Changes] = {}


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a record becomes settled: by what, and with which result.

    Attributes:
        result: JSON bytes of the data (DONE) or of the stored error (REFUSED).
        code: the error code that goes with it, if any (`done_result_lost`, `rejected`, …).
    """

    by: str
    wall: float
    result: bytes | None = None
    code: str | None = None
    status: int | None = None


def become(
    record: Record,
    event: Event,
    changes: Changes = _NONE,
    *,
    now: float | None = None,
    settlement: Settlement | None = None,
) -> Record:
    """The record after an event, in the state that the table gives, with `changes` of its other fields.

    Args:
        now: of the store's clock; needed where the record becomes UNKNOWN.
        settlement: needed where it becomes settled.

    Raises:
        IllegalMoveError: the table has no such cell. Nothing was changed.
        ValueError: `now` or `settlement` is needed and missing.
    """
    found = cell(record.state, event)
    to = State.UNKNOWN if found.joins and record.unknown_attempts() else found.to
    fields: dict[str, Any] = {
        "settled_wall": None,
        "settled_by": None,
        "outcome_code": None,
        "status": None,
        **changes,
        "state": to,
        "version": record.version + 1,
    }
    if to not in OWNED:
        fields["owner"] = None
        fields["lease_until"] = 0.0
    if to is State.FREE and not record.attempts:
        fields["bodies"] = Bodies()  # no evidence can come that would need them
    if to is State.UNKNOWN and record.state is not State.UNKNOWN:
        if now is None:
            raise ValueError("a record becomes unknown at some time")
        fields["closed_at"] = now
        fields["negatives"] = 0
        fields["negative_at"] = None
    if to in SETTLED:
        if settlement is None:
            raise ValueError("a record is settled by something")
        fields["settled_wall"] = settlement.wall
        fields["settled_by"] = settlement.by
        fields["outcome_code"] = settlement.code
        fields["status"] = settlement.status
        fields["bodies"] = changed(record.bodies, result=settlement.result)
    return changed_by(record, fields)
