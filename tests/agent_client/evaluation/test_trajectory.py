"""Tool calls beside those of a reference."""

import pytest

from agent_client.evaluation import ANY
from agent_client.evaluation.trajectory import Chosen, Trajectory, chosen, compare, matches
from agent_client.task_type import Call
from tests.agent_client.evaluation.subjects import state_with

LOOK, ISSUE, CHECK = Call("look", id=1), Call("issue", id=1, amount=5), Call("check", id=1)


def did(call: Call, step: int = 1) -> Chosen:
    """The call as a model made it."""
    return Chosen(step=step, tool=call.tool, arguments=call.arguments)


@pytest.mark.parametrize(
    ("made", "matched", "accuracy"),
    [
        ((LOOK, ISSUE, CHECK), 3, 1.0),
        ((LOOK, CHECK), 2, 2 / 3),
        ((LOOK, LOOK, ISSUE, CHECK), 3, 3 / 4),
        ((CHECK, ISSUE, LOOK), 1, 1 / 3),
        ((LOOK, Call("issue", id=1, amount=6), CHECK), 2, 2 / 3),
        ((), 0, 0.0),
    ],
)
def test_L71_accuracy_is_the_right_tool_with_the_right_arguments_in_order(
    made: tuple[Call, ...], matched: int, accuracy: float
) -> None:
    """A missing call, a superfluous one, another order and another amount each take their share."""
    trajectory = compare((LOOK, ISSUE, CHECK), [did(call) for call in made])

    assert (trajectory.matched, trajectory.accuracy) == (matched, accuracy)


def test_nothing_to_do_and_nothing_done_is_perfect() -> None:
    """A case may be one in which no tool is to be called."""
    assert compare((), ()).accuracy == 1.0
    assert Trajectory(matched=0, expected=0, made=2).accuracy == 0.0


def test_the_first_miss_is_named_with_what_was_made_instead() -> None:
    """Or with nothing, when the run ended there."""
    other = did(Call("issue", id=2, amount=5))

    assert compare((LOOK, ISSUE), (did(LOOK), other)).missed == (ISSUE, other)
    assert compare((LOOK, ISSUE), (did(LOOK),)).missed == (ISSUE, None)
    assert compare((LOOK,), (did(LOOK),)).missed is None


def test_arguments_are_matched_as_values() -> None:
    """ANY fits each, 5.0 is 5; a name too many or too few, and what cannot be read, fits nothing."""
    wanted = Call("issue", id=1, note=ANY)

    assert matches(wanted, did(Call("issue", id=1.0, note="x")))
    assert not matches(wanted, did(Call("issue", id=1)))
    assert not matches(wanted, did(Call("issue", id=1, note="x", more=1)))
    assert not matches(wanted, Chosen(step=1, tool="issue", arguments=None))


def test_what_history_has_replaced_is_not_held_against_a_call() -> None:
    """A sensitive value is not there to be compared."""
    assert matches(Call("issue", reason="ill"), did(Call("issue", reason="[redacted]")))


def test_the_calls_of_a_state_are_those_a_model_chose() -> None:
    """Without the runtime's own; unreadable arguments are none."""
    state = state_with((("look", '{"id": 1}'), ("wait", "{}")), (("issue", "{"), ("finish", "{}")))

    assert chosen(state) == (
        Chosen(step=1, tool="look", arguments={"id": 1}),
        Chosen(step=2, tool="issue", arguments=None),
    )
