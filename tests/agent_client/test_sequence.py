"""The fixed sequence: from recorded results, the same next call each time."""

from typing import Any

import pytest

from agent_client.sequence import MAX_CALLS, SequenceBroken, next_call, raw_arguments
from agent_client.state import FixedSequence
from agent_client.task_type import Call, TaskType
from tests.agent_client.states import after, failed, fresh, one_read

STATE = one_read(fresh(), "issue_refund", {"refund_id": "rf_1"})


def task_of(sequel: Any) -> TaskType:
    """A task with this sequel."""
    task = TaskType("t", tools=["issue_refund", "get_refund_status"])
    task.after_approval(sequel)
    return task


def settle(issued: Any) -> Any:
    """Verify, and tell only if it is there."""
    status = yield Call("get_refund_status", refund_id=issued.data["refund_id"])
    if status.ok:
        yield Call("notify_customer", message="on its way")


def test_L83_the_next_call_follows_from_what_is_recorded() -> None:
    """With the approved action's result; then with each call's; then nothing."""
    task = task_of(settle)
    first = FixedSequence(approved="call_1_1")
    assert next_call(STATE, task, first) == Call("get_refund_status", refund_id="rf_1")

    state = one_read(STATE, "get_refund_status", {"status": "settled"})
    second = FixedSequence(approved="call_1_1", calls=("call_2_1",))
    assert (
        next_call(state, task, second)
        == next_call(state, task, second)
        == Call("notify_customer", message="on its way")
    )
    assert next_call(state, task, FixedSequence(approved="call_1_1", calls=("call_2_1", "x"))) is None


def test_a_sequence_sees_that_a_call_failed() -> None:
    """It may stop then."""
    state = after(STATE, failed(STATE, "c", "get_refund_status", "not_found"))

    assert next_call(state, task_of(settle), FixedSequence(approved="call_1_1", calls=("c",))) is None


def test_a_sequence_that_stumbles_or_does_not_end_is_broken() -> None:
    """Neither is an exception for the loop."""

    def stumbles(_: Any) -> Any:
        found: dict[str, int] = {}
        yield Call("x", a=found["nothing"])

    def endless(_: Any) -> Any:
        while True:
            yield Call("x")

    with pytest.raises(SequenceBroken, match="KeyError"):
        next_call(STATE, task_of(stumbles), FixedSequence(approved="call_1_1"))
    many = FixedSequence(approved="call_1_1", calls=tuple(str(n) for n in range(MAX_CALLS)))
    with pytest.raises(SequenceBroken, match=f"{MAX_CALLS} calls"):
        next_call(STATE, task_of(endless), many)
    assert next_call(STATE, TaskType("t"), FixedSequence(approved="call_1_1")) is None


def test_arguments_that_are_no_json_break_it() -> None:
    """They are checked like a model's."""
    assert raw_arguments(Call("x", a="é")) == '{"a": "é"}'
    with pytest.raises(SequenceBroken, match="not JSON"):
        raw_arguments(Call("x", a=float("nan")))
