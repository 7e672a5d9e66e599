"""Task types: what can be declared, and what cannot."""

from typing import Any

import pytest

from agent_client.findings import Findings
from agent_client.task_type import Call, Stage, TaskType
from tests.agent_client.states import fresh, one_read


@pytest.mark.parametrize("tools", [["finish"], ["a", "wait"], ["no spaces"], [""]])
def test_a_tool_that_cannot_be_one_is_refused_at_once(tools: list[str]) -> None:
    """The runtime's own names, and names no tool can have."""
    with pytest.raises(ValueError, match="task type t"):
        TaskType("t", tools=tools)


def test_L82_a_stage_offers_only_what_the_task_lists() -> None:
    """A misspelt tool is an error when the task is declared."""
    with pytest.raises(ValueError, match="offers b"):
        TaskType("t", tools=["a"], stages=(Stage(name="s", tools=("b",)),))


def test_L81_L82_stages_follow_the_evidence() -> None:
    """The first that is not over counts; after the last there is nothing to call but the runtime's own."""
    read = Stage(name="r", tools=("a",), until=lambda e: e.latest("a").ok)
    task = TaskType(
        "t", tools=["a", "b"], stages=(read, Stage(name="w", tools=("b",), until=lambda e: e.executed("b")))
    )
    known = Findings(one_read(fresh(), "a", {}))

    assert task.offered(Findings(fresh())) == ("a",)
    assert task.offered(known) == ("b",)
    assert TaskType("t", tools=["a"], stages=(read,)).offered(known) == ()
    assert TaskType("t", tools=["a", "b"]).offered(known) == ("a", "b")


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ((True, "seen"), (True, "seen")),
        ((False, "not yet"), (False, "not yet")),
        (True, (True, "verified")),
        (False, (False, "not verified")),
        (None, (True, "verified")),
        ("no refund", (False, "no refund")),
    ],
)
def test_L37_a_predicate_says_done_or_why_not(verdict: Any, expected: tuple[bool, str]) -> None:
    """A pair, a bool, or the reason why not."""
    task = TaskType("t")
    task.done(lambda _: verdict)

    assert task.completion(Findings(fresh())) == expected


def test_L26_without_a_predicate_nothing_succeeds() -> None:
    """Success has to be said by somebody."""
    done, why = TaskType("t").completion(Findings(fresh()))

    assert (done, why) == (False, "task type t says nowhere what counts as done")


def test_a_predicate_that_stumbles_over_missing_evidence_has_found_none() -> None:
    """It is no success and no crash; a verdict of another kind is a bug."""
    task = TaskType("t")
    task.done(lambda e: e.latest("a").data["x"]["y"])
    assert task.completion(Findings(fresh()))[0] is False

    task.done(lambda _: 5)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="returned 5"):
        task.completion(Findings(fresh()))


def test_a_call_is_written_like_one() -> None:
    """The tool, and its arguments by name, also one that is called `tool`."""
    call = Call("notify", tool="x", message="y")

    assert (call.tool, call.arguments) == ("notify", {"tool": "x", "message": "y"})
