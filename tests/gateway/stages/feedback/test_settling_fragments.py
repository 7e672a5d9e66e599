"""The pieces of sentences about settling say what hinders it, or something true without it."""

import pytest

from gateway.contract.codes import ErrorCode
from gateway.contract.requests import OPERATIONS_SETTLE
from gateway.stages.execute.operation.record import State
from gateway.stages.feedback.context import Context
from gateway.stages.feedback.observation import observe
from gateway.stages.feedback.settling_fragments import SETTLING_FRAGMENTS


def test_it_is_the_settling_that_needs_its_permission() -> None:
    """Not the tool, whose own permission is another matter."""
    settling = Context(tool="ship", permission=OPERATIONS_SETTLE, operation_id="op-1")
    calling = Context(tool="ship", permission="ship:write", operation_id="op-1")

    assert "settling operation op-1 requires operations:settle" in observe(ErrorCode.FORBIDDEN, settling)
    assert ": ship requires ship:write" in observe(ErrorCode.FORBIDDEN, calling)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.DONE, "is settled already, as executed"),
        (State.REFUSED, "is settled already, as refused"),
        (State.FREE, "is settled already, as not executed"),
        (State.CLAIMED, "is still being carried out"),
        (State.SENT, "is still being carried out"),
        (State.LISTENING, "while the gateway still listens for its answer"),
        (State.UNKNOWN, "cannot be settled in this way"),
        (None, "cannot be settled in this way"),
    ],
)
def test_what_hinders_a_settlement_is_said(state: State | None, words: str) -> None:
    """By how the operation stands."""
    told = observe(ErrorCode.INVALID_SETTLEMENT, Context(operation_id="op-1", state=state))

    assert told.startswith("Nothing was settled: operation op-1 ")
    assert words in told


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.DONE, "call it with repeat_of"),
        (State.REFUSED, "once the refusal is forgotten, it is carried out"),
        (State.FREE, "see to it that nobody makes the same call again: it would be carried out"),
        (State.CLAIMED, "Wait for its call to end"),
        (State.SENT, "Wait for its call to end"),
        (State.LISTENING, "Wait for the gateway to stop listening"),
    ],
)
def test_what_cannot_be_settled_is_not_told_to_correct_the_settlement(state: State, words: str) -> None:
    """No other settlement would be taken, so that it is told what can be done instead."""
    told = observe(ErrorCode.INVALID_SETTLEMENT, Context(operation_id="op-1", state=state))

    assert words in told
    assert "correct the settlement" not in told


def test_no_piece_is_forgotten() -> None:
    """Each is tried above."""
    assert set(SETTLING_FRAGMENTS) == {"needing", "unsettled", "instead"}
