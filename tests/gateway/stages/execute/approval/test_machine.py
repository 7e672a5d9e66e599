"""Moves of an approval: what each needs, and what it leaves behind."""

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from gateway.stages.execute.approval import machine
from gateway.stages.execute.approval.record import ENDED, Approval, Decision, Status
from gateway.stages.execute.approval.table import APPROVAL_TRANSITIONS, ApprovalEvent, ApprovalMoveError
from tests.gateway.stages.execute.approval.samples import LAPSES_WALL, YES, in_status

IN_TIME: Final = 1_400.0
MOVES: Final[Mapping[ApprovalEvent, Callable[[Approval, float], Approval]]] = {
    ApprovalEvent.APPROVED: lambda it, wall: machine.approve(it, Decision(by="lead", wall=wall)),
    ApprovalEvent.DENIED: lambda it, wall: machine.deny(it, Decision(by="lead", wall=wall)),
    ApprovalEvent.LAPSED: lambda it, wall: machine.lapse(it, wall=wall),
    ApprovalEvent.RESERVED: lambda it, wall: machine.reserve(it, operation_id="op", fence=2, wall=wall),
    ApprovalEvent.SPENT: lambda it, wall: machine.spend(it, wall=wall),
    ApprovalEvent.NEVER_LEFT: lambda it, wall: machine.take_back_mark(it, wall=wall),
    ApprovalEvent.GIVEN_BACK: lambda it, wall: machine.give_back(it, wall=wall),
    ApprovalEvent.VOIDED: lambda it, wall: machine.void(it, wall=wall),
}
ASKS_FOR_TIME: Final = {
    ApprovalEvent.APPROVED,
    ApprovalEvent.DENIED,
    ApprovalEvent.RESERVED,
    ApprovalEvent.SPENT,
    ApprovalEvent.VOIDED,
}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("event", ApprovalEvent)
@pytest.mark.parametrize("wall", [IN_TIME, LAPSES_WALL])
def test_every_move_is_the_tables(status: Status, event: ApprovalEvent, wall: float) -> None:
    """A legal move in its time leads on with the next version; any other raises and changes nothing."""
    approval = in_status(status)
    in_time = wall == IN_TIME
    allowed = event in APPROVAL_TRANSITIONS[status]
    if (event in ASKS_FOR_TIME and not in_time) or (event is ApprovalEvent.LAPSED and in_time):
        allowed = False
    if not allowed:
        with pytest.raises(ApprovalMoveError):
            MOVES[event](approval, wall)
        assert approval == in_status(status)
        return
    after = MOVES[event](approval, wall)
    assert (after.status, after.version) == (APPROVAL_TRANSITIONS[status][event], approval.version + 1)
    assert after.ended_wall == (wall if after.status in ENDED else None)


def test_a_decision_is_kept_as_it_was_made() -> None:
    """Who, when, why, and what it rested on."""
    assert in_status(Status.APPROVED).decision == YES
    assert in_status(Status.DENIED).decision == YES
    assert in_status(Status.PENDING).decision is None


def test_a_reservation_names_its_claim_until_it_is_given_back() -> None:
    """The operation and the fence; a spent one keeps them for ever."""
    assert [(in_status(s).operation_id, in_status(s).fence) for s in (Status.RESERVED, Status.SPENT)] == [
        ("op-a-1", 1)
    ] * 2
    back = machine.give_back(in_status(Status.RESERVED), wall=IN_TIME)
    assert (back.status, back.operation_id, back.fence, back.decision) == (Status.APPROVED, None, None, YES)


def test_a_void_yes_leaves_nothing_of_itself() -> None:
    """It waits as it waited before, until the same moment, and another may decide."""
    void = machine.void(in_status(Status.APPROVED), wall=IN_TIME)
    assert (void.status, void.decision, void.expires_wall) == (Status.PENDING, None, LAPSES_WALL)
    other = Decision(by="other", wall=IN_TIME)
    assert machine.approve(void, other).decision == other
