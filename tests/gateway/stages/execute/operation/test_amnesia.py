"""What to do when the store has forgotten."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation.amnesia import has_forgotten, unsure_for_s, with_attempt
from gateway.stages.execute.operation.record import Knowledge, Record, State
from gateway.stages.execute.operation.table import Event
from tests.conformance.moves import fire, history

CLAIMED, SENT = history("a", State.SENT, 1.0)


def others(record: Record) -> Record:
    """A record with a send of somebody else's in the place of its own."""
    return replace(record, attempts=(replace(record.attempts[0], fence=7, sent_wall=9.0),))


def test_an_earlier_form_is_a_loss() -> None:
    """Gone, or back before what was acknowledged: what its owner knows may go in again."""
    assert has_forgotten(None, SENT)
    assert has_forgotten(CLAIMED, SENT)


def test_what_others_did_is_none() -> None:
    """Further on, equally far, or with a send that the owner never made: somebody acted on what was left."""
    done = fire(SENT, Event.DONE, 1.0)

    assert not has_forgotten(done, SENT)
    assert not has_forgotten(SENT, SENT)
    assert not has_forgotten(others(SENT), done)


def test_an_attempt_that_is_there_is_found() -> None:
    """Under its number, whatever is known of it by now."""
    known = replace(SENT, attempts=(replace(SENT.attempts[0], knowledge=Knowledge.VOID),))

    assert with_attempt(known, SENT.attempts[0]) == (known, 1)


def test_an_attempt_that_was_lost_is_one_more() -> None:
    """Beside another's in its place: two that may both have acted."""
    alone, number = with_attempt(CLAIMED, SENT.attempts[0])
    beside, second = with_attempt(others(SENT), SENT.attempts[0])

    assert (alone.attempts, number) == (SENT.attempts, 1)
    assert ([a.fence for a in beside.attempts], second) == ([7, SENT.attempts[0].fence], 2)


@pytest.mark.parametrize(
    ("changed_at", "left_s"), [(None, 0.0), (100.0, 30.0), (110.0, 40.0), (70.0, 0.0), (60.0, 0.0)]
)
def test_nobody_knows_until_nothing_old_can_act(changed_at: float | None, left_s: float) -> None:
    """From the change on, for as long as a send can last."""
    assert unsure_for_s(changed_at, now=110.0, longest_s=40.0) == left_s
