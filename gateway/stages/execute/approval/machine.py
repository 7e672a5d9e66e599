"""Walks the table: each function takes an approval and what happened, and returns it as it becomes.

Nothing here reads a clock or a store; every `status` comes from `table.status_after`; every changed approval carries
the next version. What asks for time (deciding, voiding, reserving, spending) is refused to an approval that has lapsed.
"""

from dataclasses import replace
from typing import Any

from gateway.stages.execute.approval.record import ENDED, Approval, Decision
from gateway.stages.execute.approval.table import ApprovalEvent, ApprovalMoveError, status_after


def approve(approval: Approval, decision: Decision) -> Approval:
    """A person allows the action."""
    return _in_time(approval, ApprovalEvent.APPROVED, decision.wall, decision=decision)


def deny(approval: Approval, decision: Decision) -> Approval:
    """A person forbids it."""
    return _in_time(approval, ApprovalEvent.DENIED, decision.wall, decision=decision)


def void(approval: Approval, *, wall: float) -> Approval:
    """Its yes counts no more: it waits for another."""
    return _in_time(approval, ApprovalEvent.VOIDED, wall, decision=None)


def lapse(approval: Approval, *, wall: float) -> Approval:
    """Its time is over.

    Raises:
        ApprovalMoveError: it is not, or the approval has ended otherwise.
    """
    if not approval.has_lapsed(wall):
        raise ApprovalMoveError(approval.status, ApprovalEvent.LAPSED)
    return _become(approval, ApprovalEvent.LAPSED, wall)


def reserve(approval: Approval, *, operation_id: str, fence: int, wall: float) -> Approval:
    """A call claims the operation with it."""
    return _in_time(approval, ApprovalEvent.RESERVED, wall, operation_id=operation_id, fence=fence)


def spend(approval: Approval, *, wall: float) -> Approval:
    """The gate is passed: bytes may leave."""
    return _in_time(approval, ApprovalEvent.SPENT, wall)


def take_back_mark(approval: Approval, *, wall: float) -> Approval:
    """It is proved that no byte followed the SENT mark; the claim still has it."""
    return _become(approval, ApprovalEvent.NEVER_LEFT, wall)


def give_back(approval: Approval, *, wall: float) -> Approval:
    """Its claim has ended with nothing sent: it may be used by another call."""
    return _become(approval, ApprovalEvent.GIVEN_BACK, wall, operation_id=None, fence=None)


def _in_time(approval: Approval, event: ApprovalEvent, wall: float, **changes: Any) -> Approval:
    if approval.has_lapsed(wall):
        raise ApprovalMoveError(approval.status, event)
    return _become(approval, event, wall, **changes)


def _become(approval: Approval, event: ApprovalEvent, wall: float, **changes: Any) -> Approval:
    """The one place where an approval gets another status."""
    to = status_after(approval.status, event)
    ended = wall if to in ENDED else None
    return replace(approval, status=to, version=approval.version + 1, ended_wall=ended, **changes)
