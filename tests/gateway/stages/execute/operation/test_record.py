"""A record says by itself who owns it, what is unknown of it, and what it keeps others away from."""

from dataclasses import FrozenInstanceError, replace

import pytest

from gateway.stages.execute.operation.record import OPEN, OWNED, UNSETTLED, Bodies, Hold, Knowledge, State
from tests.gateway.stages.execute.operation.records import HOLD, LEASE_END, ORIGIN, WALL, record, tried


@pytest.mark.parametrize("state", State)
def test_a_lease_is_dead_from_its_end_on(state: State) -> None:
    """An owner lives until its lease's end and not at it; what nobody owns has no dead owner."""
    it = record(state, lease_until=LEASE_END)

    assert not it.lease_is_dead(LEASE_END - 0.001)
    assert it.lease_is_dead(LEASE_END) is (state in OWNED)
    assert it.lease_is_dead(LEASE_END + 1.0) is (state in OWNED)


def test_a_dead_lease_does_not_settle_what_was_sent() -> None:
    """The states with a lease that may have had an effect are unsettled with the lease alive or dead."""
    assert {State.CLAIMED} == OWNED - UNSETTLED
    assert {State.CLAIMED} == OPEN - UNSETTLED


@pytest.mark.parametrize("state", State)
def test_holds_stand_from_the_sent_mark_until_it_is_settled(state: State) -> None:
    """Entries stand while the effect may have happened and is not settled; not on a mere claim, not afterwards."""
    stands = state in {State.SENT, State.LISTENING, State.UNKNOWN, State.FROZEN}

    assert record(state).standing_holds() == ((HOLD,) if stands else ())


def test_only_unknown_attempts_are_unknown() -> None:
    """What was proved or covered is not in doubt."""
    it = record(State.UNKNOWN, tried(*Knowledge))

    assert [a.knowledge for a in it.unknown_attempts()] == [Knowledge.UNKNOWN]


@pytest.mark.parametrize("knowledge", Knowledge)
def test_nothing_is_done_where_every_attempt_says_so_itself(knowledge: Knowledge) -> None:
    """Covered by a look-up is not said by itself: that attempt may still have come late."""
    proved = knowledge in (Knowledge.NOT_SENT, Knowledge.REFUSED)

    assert record(State.FREE).has_done_nothing()
    assert record(State.FREE, tried(Knowledge.REFUSED, knowledge)).has_done_nothing() is proved


def test_the_providers_window_counts_from_the_first_send() -> None:
    """However often it was sent since."""
    assert record(State.CLAIMED).first_sent_wall is None
    assert record(State.UNKNOWN, tried(Knowledge.NOT_SENT, Knowledge.UNKNOWN)).first_sent_wall == WALL


def test_a_reconciliation_acts_as_nobody_in_the_operations_tenant() -> None:
    """`system`, with no permission of anybody."""
    caller = ORIGIN.system_caller()

    assert (caller.subject, caller.tenant, caller.permissions) == ("system", "acme", frozenset())


def test_holds_of_two_tenants_are_two_holds() -> None:
    """Equal names and values meet only within a tenant, across tools."""
    assert Hold("acme", "order", "1") == Hold("acme", "order", "1")
    assert Hold("acme", "order", "1") != Hold("globex", "order", "1")
    assert Hold("acme", "order", "1") != Hold("acme", "customer", "1")


def test_a_record_shows_no_argument_when_it_is_printed() -> None:
    """A traceback or a log line names the operation and its state only."""
    bodies = Bodies(arguments={"card": "4111"}, request=b"4111", result=b"4111")
    text = repr(record(State.DONE, tried(Knowledge.DONE), holds=(Hold("acme", "card", "4111"),), bodies=bodies))

    assert "4111" not in text
    assert text == "<Record 01J done v7 fence 3 [done]>"


def test_a_record_is_a_value() -> None:
    """Two reads of one record are equal, and nobody changes one in place."""
    it = record(State.FREE)

    assert it == replace(it)
    with pytest.raises(FrozenInstanceError):
        it.state = State.DONE  # type: ignore[misc]  # the point of the test


def test_what_needed_no_approval_is_approved_for_ever() -> None:
    """And what needed one until the moment that it names."""
    bare = record(State.CLAIMED)
    assert bare.is_approved_still(10**12)
    approved = replace(bare, approval_id="ap-1", approved_until=100.0)
    assert (approved.is_approved_still(99.9), approved.is_approved_still(100.0)) == (True, False)
