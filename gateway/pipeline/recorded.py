"""What a call is told that executes nothing, because its record has the answer."""

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.pipeline.telling import rfc3339
from gateway.pipeline.visit import Step, Visit
from gateway.stages.execute.operation.intention import differing
from gateway.stages.execute.operation.meeting import Answered, Conflict, Frozen, Meeting, OwnRecord
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.monitor.ports import IdempotencyResult, LinkType


def recorded(meeting: Meeting, visit: Visit) -> Step:
    """The answer that stands in the record; None where the call is to wait, to look into the world, or to act."""
    if (refused := _stale(meeting, visit)) is not None:
        return refused
    match meeting:
        case Answered(record=record) | Frozen(record=record):
            return _answered(record, visit)
        case Conflict(record=record):
            return _conflict(record, visit)
        case _:
            return None


def _answered(record: Record, visit: Visit) -> Envelope:
    telling, tool = visit.telling, visit.intention.tool
    if record.state is State.FROZEN:
        telling.idempotency = IdempotencyResult.UNKNOWN
        return telling.stored(record)
    telling.idempotency = IdempotencyResult.REPLAYED
    visit.trace.link(record.origin.traceparent, LinkType.ORIGINAL_EXECUTION)
    other = differing(tool, record.bodies.arguments, visit.intention.arguments, material=False)
    if other and not record.tombstone:
        names = ", ".join(other)
        telling.warn(f"This is the stored answer of an earlier call that differed in {names}; it was not repeated.")
    key, first_key = visit.call.idempotency_key, record.origin.caller_key
    if key is not None and first_key is not None and key != first_key:
        telling.warn("An earlier call of the same operation came with another Idempotency-Key.")
    return telling.stored(record)


def _conflict(record: Record, visit: Visit) -> Envelope:
    visit.telling.idempotency = IdempotencyResult.CONFLICT
    names = differing(visit.intention.tool, record.bodies.arguments, visit.intention.arguments, material=True)
    return visit.telling.refuse(
        ErrorCode.IDEMPOTENCY_CONFLICT,
        record=record,
        differing=() if record.tombstone else names,
        state=record.state.value,
        operation_id=record.operation_id,
        settled_at=rfc3339(record.settled_wall),
        settled_by=record.settled_by,
    )


def _stale(meeting: Meeting, visit: Visit) -> Step:
    """The call was prepared for another operation than the one that stands here."""
    expect = visit.call.expect
    if expect is None or expect.operation_key is None or not isinstance(meeting, OwnRecord):
        return None
    if meeting.record.key == expect.operation_key:
        return None
    return visit.telling.refuse(ErrorCode.INTENT_STALE, record=meeting.record)
