"""A person's word on what no evidence ends."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.record import Knowledge, State
from gateway.stages.execute.operation.table import TRANSITIONS, Event, IllegalMoveError
from tests.gateway.stages.execute.operation.records import NOW, SETTLEMENT, WALL, claim_by, record, tried


@pytest.mark.parametrize("state", [State.UNKNOWN, State.FROZEN])
@pytest.mark.parametrize(
    ("event", "to"),
    [
        (Event.OPERATOR_DONE, State.DONE),
        (Event.OPERATOR_FREE, State.FREE),
        (Event.OPERATOR_REFUSED, State.REFUSED),
    ],
)
def test_an_operator_settles_with_evidence(state: State, event: Event, to: State) -> None:
    """A person's word ends UNKNOWN and FROZEN; whose it is, since when and on what it rests is kept."""
    word = replace(SETTLEMENT, by="operator:ann")
    after = machine.settle_by_operator(
        record(state, tried(Knowledge.UNKNOWN)), event, word, now=NOW, evidence="bank statement"
    )

    assert (after.state, after.evidence) == (to, "bank statement")
    assert (after.settled_by, after.settled_wall) == ("operator:ann", SETTLEMENT.wall)
    assert after.attempts[0].knowledge is (Knowledge.UNKNOWN if to is State.DONE else Knowledge.VOID)
    assert after.standing_holds() == ()


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", [Event.OPERATOR_DONE, Event.OPERATOR_FREE, Event.OPERATOR_REFUSED])
def test_an_operator_cannot_settle_what_is_not_in_doubt(state: State, event: Event) -> None:
    """Nor say that nothing happened while somebody still listens for it."""
    allowed = state in (State.UNKNOWN, State.FROZEN) or (state, event) == (State.LISTENING, Event.OPERATOR_DONE)

    assert (event in TRANSITIONS[state]) is allowed
    if not allowed:
        with pytest.raises(IllegalMoveError):
            machine.settle_by_operator(record(state), event, SETTLEMENT, now=NOW)


def test_a_free_record_shows_no_answer() -> None:
    """A person's word that nothing was done leaves no traces of the settlement before it."""
    frozen = record(
        State.FROZEN, tried(Knowledge.UNKNOWN), settled_by="lookup", settled_wall=WALL, outcome_code="x", status=200
    )
    word = replace(SETTLEMENT, by="operator:ann", wall=WALL + 9.0)
    after = machine.settle_by_operator(frozen, Event.OPERATOR_FREE, word, now=NOW)

    assert (after.settled_by, after.settled_wall) == ("operator:ann", WALL + 9.0)
    assert (after.outcome_code, after.status) == (None, None)
    claimed = machine.claim(after, claim_by())
    assert (claimed.settled_by, claimed.settled_wall) == (None, None)
