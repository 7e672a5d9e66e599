"""The table, walked whole."""

import pytest

from gateway.stages.execute.approval.record import ENDED, Status
from gateway.stages.execute.approval.table import (
    APPROVAL_TRANSITIONS,
    ApprovalEvent,
    ApprovalMoveError,
    status_after,
)

_S, _E = Status, ApprovalEvent
LEGAL = {
    (_S.PENDING, _E.APPROVED): _S.APPROVED,
    (_S.PENDING, _E.DENIED): _S.DENIED,
    (_S.PENDING, _E.LAPSED): _S.EXPIRED,
    (_S.APPROVED, _E.RESERVED): _S.RESERVED,
    (_S.APPROVED, _E.VOIDED): _S.PENDING,
    (_S.APPROVED, _E.LAPSED): _S.EXPIRED,
    (_S.RESERVED, _E.SPENT): _S.SPENT,
    (_S.RESERVED, _E.GIVEN_BACK): _S.APPROVED,
    (_S.RESERVED, _E.LAPSED): _S.EXPIRED,
    (_S.SPENT, _E.NEVER_LEFT): _S.RESERVED,
}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("event", ApprovalEvent)
def test_every_cell_is_as_designed(status: Status, event: ApprovalEvent) -> None:
    """A legal move leads where it should; every other one raises."""
    if (status, event) in LEGAL:
        assert status_after(status, event) is LEGAL[status, event]
    else:
        with pytest.raises(ApprovalMoveError, match=f"{event} cannot happen to an approval that is {status}"):
            status_after(status, event)


def test_every_status_has_a_row() -> None:
    """None is forgotten."""
    assert set(APPROVAL_TRANSITIONS) == set(Status)


def test_a_no_and_an_end_are_final() -> None:
    """Nothing makes a denied or expired approval useful; a spent one comes back only by proof that nothing left."""
    ways_out = {status: set(APPROVAL_TRANSITIONS[status]) for status in ENDED}
    assert ways_out == {_S.DENIED: set(), _S.EXPIRED: set(), _S.SPENT: {_E.NEVER_LEFT}}


def test_nothing_is_spent_that_was_not_approved() -> None:
    """Every way from pending to spent leads through approved and then through reserved."""
    before = {
        status: {at for at, row in APPROVAL_TRANSITIONS.items() for to in row.values() if to is status}
        for status in Status
    }
    assert before[_S.SPENT] == {_S.RESERVED}
    assert before[_S.RESERVED] == {_S.APPROVED, _S.SPENT}
    assert before[_S.APPROVED] == {_S.PENDING, _S.RESERVED}
