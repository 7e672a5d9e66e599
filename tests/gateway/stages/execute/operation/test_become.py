"""What goes with a record's new state."""

import pytest

from gateway.stages.execute.operation.become import become
from gateway.stages.execute.operation.record import Bodies, Knowledge, State
from gateway.stages.execute.operation.table import Event, IllegalMoveError
from tests.gateway.stages.execute.operation.records import NOW, SETTLEMENT, record, tried


def test_the_state_is_the_tables_and_the_version_the_next() -> None:
    """And what is asked for besides is changed with it."""
    sent = record(State.SENT, tried(Knowledge.UNKNOWN))

    told = become(sent, Event.CALLER_ANSWERED, {"evidence": "seen"})

    assert (told.state, told.version, told.evidence) == (State.LISTENING, sent.version + 1, "seen")


def test_a_move_that_the_table_has_not_is_refused() -> None:
    """The record is as it was."""
    with pytest.raises(IllegalMoveError):
        become(record(State.DONE, tried(Knowledge.DONE)), Event.GAVE_UP, now=NOW)


def test_who_owns_it_no_longer_has_no_lease_of_it() -> None:
    """In every state without an owner."""
    told = become(record(State.SENT, tried(Knowledge.UNKNOWN)), Event.CONTACT_LOST, now=NOW)

    assert (told.owner, told.lease_until) == (None, 0.0)


def test_a_record_of_which_nothing_was_sent_keeps_no_bodies_when_it_is_free() -> None:
    """With something sent it keeps them: evidence may come that needs them."""
    claimed = record(State.CLAIMED)
    tried_before = record(State.CLAIMED, tried(Knowledge.REFUSED), bodies=Bodies(arguments={"a": 1}))

    assert become(claimed, Event.GAVE_UP, now=NOW).bodies == Bodies()
    assert become(tried_before, Event.GAVE_UP, now=NOW).bodies == tried_before.bodies


def test_an_unknown_says_since_when_and_counts_its_looks_anew() -> None:
    """Only as it becomes unknown, not while it stays so."""
    sent = record(State.SENT, tried(Knowledge.UNKNOWN), negatives=3)

    told = become(sent, Event.CONTACT_LOST, now=NOW)
    still = become(told, Event.FOUND_NOTHING, {"negatives": 1, "negative_at": NOW + 5}, now=NOW + 5)

    assert (told.closed_at, told.negatives, told.negative_at) == (NOW, 0, None)
    assert (still.closed_at, still.negatives, still.negative_at) == (NOW, 1, NOW + 5)


def test_a_settled_record_has_the_settlement_and_another_has_none() -> None:
    """Also one that had been settled before."""
    done = become(record(State.SENT, tried(Knowledge.DONE)), Event.DONE, now=NOW, settlement=SETTLEMENT)

    assert (done.settled_wall, done.settled_by) == (SETTLEMENT.wall, SETTLEMENT.by)
    assert (done.outcome_code, done.status, done.bodies.result) == (
        SETTLEMENT.code,
        SETTLEMENT.status,
        SETTLEMENT.result,
    )
    frozen = become(done, Event.DONE_FOR_ANOTHER, now=NOW, settlement=SETTLEMENT)
    refused = record(State.REFUSED, tried(Knowledge.REFUSED), settled_wall=1.0, settled_by="attempt", status=409)
    claimed = become(refused, Event.CLAIMED)
    assert (frozen.state, frozen.settled_by) == (State.FROZEN, SETTLEMENT.by)
    assert (claimed.settled_wall, claimed.settled_by, claimed.outcome_code, claimed.status) == (None, None, None, None)


def test_what_a_state_needs_to_say_is_asked_for() -> None:
    """A record that nobody can date, or that nothing settled, is not made."""
    with pytest.raises(ValueError, match="some time"):
        become(record(State.SENT, tried(Knowledge.UNKNOWN)), Event.CONTACT_LOST)
    with pytest.raises(ValueError, match="settled by something"):
        become(record(State.SENT, tried(Knowledge.DONE)), Event.DONE, now=NOW)
