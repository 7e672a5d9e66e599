"""What a move of a record does to the approval that it rests on: the cells of both tables that go together.

A claim reserves it, the SENT mark spends it, and the end of a claim of which no byte ever left gives it back. All of
it is applied in the record's own transaction, whoever makes the move.
"""

from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.record import Approval, Status
from gateway.stages.execute.approval.table import ApprovalEvent, ApprovalMoveError
from gateway.stages.execute.operation.record import Knowledge, Record, State


def touches(before: Record | None, after: Record) -> bool:
    """Whether the approval must be read for this move. A heartbeat leaves it alone."""
    if after.approval_id is None:
        return False
    return before is None or before.state is not after.state or before.attempts is not after.attempts


def needs(before: Record | None, after: Record) -> bool:
    """Whether the move may not be made without its approval: a claim, and a first send of a claim."""
    return after.approval_id is not None and (_claims(before, after) or _sends(before, after))


def follow(before: Record | None, after: Record, approval: Approval, *, wall: float) -> Approval:
    """The approval of `after` as it becomes; the same object where nothing changes.

    Raises:
        ApprovalMoveError: it does not allow the claim, or the send.
    """
    if _claims(before, after):
        return machine.reserve(approval, operation_id=after.operation_id, fence=after.fence, wall=wall)
    if approval.operation_id != after.operation_id or approval.fence is None:
        if _sends(before, after):
            raise ApprovalMoveError(approval.status, ApprovalEvent.SPENT)
        return approval
    if _sends(before, after):
        # A claim that was refused in a way that may be tried again goes on with what it has spent.
        return approval if approval.status is Status.SPENT else machine.spend(approval, wall=wall)
    if (
        approval.status is Status.SPENT
        and after.state in (State.CLAIMED, State.FREE)
        and _nothing_left(after, approval)
    ):
        approval = machine.take_back_mark(approval, wall=wall)
    if approval.status is Status.RESERVED and after.state not in (State.CLAIMED, State.SENT, State.LISTENING):
        return machine.give_back(approval, wall=wall)
    return approval


def _claims(before: Record | None, after: Record) -> bool:
    return after.state is State.CLAIMED and (before is None or after.fence > before.fence)


def _sends(before: Record | None, after: Record) -> bool:
    """The gate of a claim. A replay sends what was allowed, and sent, before."""
    return before is not None and before.state is State.CLAIMED and after.state is State.SENT


def _nothing_left(record: Record, approval: Approval) -> bool:
    since = [a for a in record.attempts if approval.fence is not None and a.fence >= approval.fence]
    return all(attempt.knowledge is Knowledge.NOT_SENT for attempt in since)
