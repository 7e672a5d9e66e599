"""The table, walked: every reachable world of one operation, with each protection on and then left out."""

import itertools

import pytest

from gateway.stages.execute.operation.record import OPEN, OWNED, State
from gateway.stages.execute.operation.table import TRANSITIONS, Event, IllegalMoveError, cell
from tests.gateway.stages.execute.operation.world import Tool, walk


def test_the_table_names_every_state() -> None:
    """Every state has a row, and every event stands in some row."""
    assert set(TRANSITIONS) == set(State)

    assert {event for row in TRANSITIONS.values() for event in row} == set(Event)


@pytest.mark.parametrize(("state", "event"), list(itertools.product(State, Event)))
def test_an_absent_cell_is_an_illegal_move(state: State, event: Event) -> None:
    """An event that has no cell in a state's row raises and names both; the others lead to the table's state."""
    if event in TRANSITIONS[state]:
        assert cell(state, event) is TRANSITIONS[state][event]
    else:
        with pytest.raises(IllegalMoveError, match=f"{event} cannot happen to a record that is {state}"):
            cell(state, event)


def test_nothing_leads_from_sent_to_free_without_a_proof() -> None:
    """From SENT the only ways to a claimable record are proofs that it was not done, and they all join."""
    claimable = {State.FREE, State.CLAIMED}
    ways = {event: to for event, to in TRANSITIONS[State.SENT].items() if to.to in claimable}

    assert set(ways) == {Event.NOT_SENT, Event.REFUSED_RETRYABLE}
    assert all(to.joins for to in ways.values())


def test_unknown_is_left_only_by_evidence_or_a_person() -> None:
    """No clock, lease or call ends UNKNOWN."""
    mere_time = {Event.OWNER_DIED, Event.CLAIMED, Event.TAKEN_OVER, Event.GAVE_UP, Event.GATE_PASSED}

    assert not mere_time & set(TRANSITIONS[State.UNKNOWN])
    assert State.UNKNOWN in OPEN
    assert State.UNKNOWN not in OWNED


@pytest.mark.parametrize(
    ("keyed", "lookup", "attempts"),
    [(False, False, 3), (False, True, 3), (True, False, 2), (True, True, 2)],
)
def test_no_reachable_world_breaks_the_promise(keyed: bool, lookup: bool, attempts: int) -> None:  # noqa: FBT001  # parametrised
    """Whatever crashes, executes late, gets lost or expires: one effect, and no state that says what is not so."""
    found = walk(Tool(keyed=keyed, lookup=lookup, attempts=attempts))

    assert found.violations == {}
    assert found.worlds > 1_000


@pytest.mark.parametrize(
    ("without", "keyed", "violation"),
    [
        ("send_by", False, "two effects"),
        ("settle_after", False, "two effects"),
        ("lease", False, "two effects"),
        ("version", False, "free though it happened"),
        ("join", True, "free though it happened"),
        ("margin", True, "two effects"),
        ("marker", True, "refused though it happened"),
    ],
)
def test_each_protection_left_out_breaks_it(without: str, keyed: bool, violation: str) -> None:  # noqa: FBT001  # parametrised
    """The same walk finds the harm as soon as one protection is switched off."""
    found = walk(Tool(keyed=keyed, lookup=not keyed, without=without))

    assert violation in found.violations
