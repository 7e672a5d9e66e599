"""The one place where a record gets another state: what goes with that state, whatever led to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from gateway.contract.changed import changed, changed_by
from gateway.contract.quick import quick
from gateway.stages.execute.operation.record import OWNED, SETTLED, Bodies, Record, State
from gateway.stages.execute.operation.table import Event, cell

_NOTHING_ELSE: Final[Mapping[str, Any]] = MappingProxyType({})


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
    changes: Mapping[str, Any] = _NOTHING_ELSE,
    *,
    now: float | None = None,
    settlement: Settlement | None = None,
) -> Record:
    """The record after an event, in the state that the table gives, with `changes` of its other fields by their names.

    Args:
        now: of the store's clock; asked for where the record becomes UNKNOWN.
        settlement: asked for where it becomes settled.

    Raises:
        IllegalMoveError: the table has no such cell. Nothing was changed.
    """
    found = cell(record.state, event)
    to = State.UNKNOWN if found.joins and record.unknown_attempts() else found.to
    become: dict[str, Any] = {
        "settled_wall": None,
        "settled_by": None,
        "outcome_code": None,
        "status": None,
        **changes,
        "state": to,
        "version": record.version + 1,
    }
    if to not in OWNED:
        become["owner"] = None
        become["lease_until"] = 0.0
    if to is State.FREE and not record.attempts:
        become["bodies"] = Bodies()  # no evidence can come that would need them
    if to is State.UNKNOWN and record.state is not State.UNKNOWN:
        become["closed_at"] = now
        become["negatives"] = 0
        become["negative_at"] = None
    if to in SETTLED and settlement is not None:
        become["settled_wall"] = settlement.wall
        become["settled_by"] = settlement.by
        become["outcome_code"] = settlement.code
        become["status"] = settlement.status
        become["bodies"] = changed(record.bodies, result=settlement.result)
    return changed_by(record, become)
