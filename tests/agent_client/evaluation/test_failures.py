"""Which part of an agent a failure points at."""

from typing import Any

import pytest

from agent_client.evaluation.failures import LOOK_AT, Failing, failing, looped
from agent_client.evaluation.trajectory import chosen, compare
from agent_client.state import Evidence, LoopState, Monitor, Observation
from agent_client.status import Reason
from agent_client.task_type import Call
from tests.agent_client.evaluation.subjects import state_with

LOOK = ("look", '{"id": 1}')
SEEN = Evidence(id="ev-1", step=1, call_id="call_1_1", tool="look", arguments={}, request_id="r", payload={"pay": ["p2"]}, payload_hash="h")  # fmt: skip
REJECTED = Observation(step=2, call_id="call_2_1", code="completion_rejected", text="completion rejected: nothing")
REFERENCE = (Call("look", id=1), Call("issue", payment="p2"))


def classed(state: LoopState, *, verified: bool = False, reference: Any = REFERENCE) -> Failing | None:
    """The class of a state beside the reference."""
    return failing(state, None if reference is None else compare(reference, chosen(state)), verified=verified)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (state_with((LOOK,)), Failing.FALSE_SUCCESS),
        (state_with((LOOK,), (("isue", "{}"),), reason=Reason.STEPS), Failing.WRONG_CALL),
        (state_with((LOOK,), (("issue", '{"payment": "p9"}'),), reason=Reason.STEPS), Failing.WRONG_CALL),
        (
            state_with((LOOK,), (("issue", '{"payment": "p1"}'),), reason=Reason.STEPS, evidence=(SEEN,)),
            Failing.IGNORED_EVIDENCE,
        ),
        (state_with((LOOK,), reason=Reason.NO_ACTION), Failing.PREMATURE_STOP),
        (state_with((LOOK,), reason=Reason.QUESTION), Failing.PREMATURE_STOP),
        (state_with((LOOK,), reason=Reason.STEPS, observations=(REJECTED,)), Failing.PREMATURE_STOP),
        (state_with((LOOK,), reason=Reason.CYCLE), Failing.REPETITION),
        (state_with((LOOK,), reason=Reason.STEPS, monitor=Monitor(corrected=("cycle",))), Failing.REPETITION),
        (state_with((LOOK,), reason=Reason.APPROVAL), Failing.SUSPENDED),
        (state_with((LOOK,), reason=Reason.GATEWAY_UNAVAILABLE), Failing.STOPPED),
    ],
)
def test_L79_a_failure_has_a_class_that_says_where_to_look(state: LoopState, expected: Failing) -> None:
    """Wrong call: schemas; ignored evidence: rendering; premature stop: predicate and words; repetition: history."""
    assert classed(state) is expected
    assert LOOK_AT[expected]


def test_a_completed_task_has_none() -> None:
    """Whatever its calls were."""
    assert classed(state_with((("other", "{}"),)), verified=True) is None


def test_evidence_that_came_later_was_not_ignored() -> None:
    """Only what the model had been shown counts."""
    late = SEEN.model_copy(update={"step": 2})
    state = state_with((LOOK,), (("issue", '{"payment": "p1"}'),), reason=Reason.STEPS, evidence=(late,))

    assert classed(state) is Failing.WRONG_CALL


def test_without_a_reference_the_status_alone_speaks() -> None:
    """A budget is a budget."""
    assert classed(state_with((LOOK,), reason=Reason.TOKENS), reference=None) is Failing.STOPPED


def test_L73_a_loop_is_a_correction_or_the_end_by_no_progress() -> None:
    """Either is counted, neither twice."""
    assert looped(state_with(reason=Reason.REPEATED_ACTION))
    assert looped(state_with(monitor=Monitor(corrected=("cycle",))))
    assert not looped(state_with(reason=Reason.STEPS))
