"""The ways a task ends: each with its own status and reason, and none of them a model's sentence."""

from typing import Any

import pytest

from agent_client.inference import ModelReply, ModelTrouble
from agent_client.limits import Limits
from agent_client.runner import Runner
from agent_client.status import TERMINAL, Reason, Status
from agent_client.task_type import TaskType
from gateway.contract.codes import ErrorCode, NextAction
from tests.agent_client.approving import Desk
from tests.agent_client.brisk import BriskClock
from tests.agent_client.test_approvals import Office, office
from tests.agent_client.world import DONE, Scripted, reply, texts

__all__ = ["office"]

READ = reply(("lookup_order", {"order_id": "1"}))
SMALL = reply(("issue_refund", {"order_id": "1", "amount": 10}))


async def ran(office: Office, *lines: ModelReply | ModelTrouble, **limits: Any) -> tuple[Any, Scripted]:
    """A task run to its end."""
    office.task.limits = Limits(**{"max_steps": 6, **limits})
    runner, model = office.worker(*lines)
    await runner.start("refund", goal="Refund it.", task_id="t")
    return await runner.run("t"), model


def numbered(n: int) -> ModelReply:
    """A read that is another one each time."""
    return reply(("lookup_order", {"order_id": str(n)}))


class Slow:
    """A gateway that takes three minutes for each call."""

    def __init__(self, office: Office) -> None:
        self._office = office

    def __getattr__(self, name: str) -> Any:
        return getattr(self._office.gateway, name)

    async def call(self, request: Any) -> Any:
        envelope = await self._office.gateway.call(request)
        self._office.clock._monotonic += 180
        return envelope


async def test_L35_L37_scenario_30_a_finish_without_evidence_is_rejected_each_time_and_never_becomes_success(
    office: Office,
) -> None:
    """Each rejection is an observation and costs a step; the end is BUDGET_EXHAUSTED (smolagents 2686)."""
    state, model = await ran(office, DONE)

    assert (state.status, state.reason, state.step_count) == (Status.BUDGET_EXHAUSTED, Reason.STEPS, 6)
    assert "completion rejected: refund not verified" in texts(model.seen[1])
    assert state.answer is None


async def test_L36_T08_a_sentence_is_not_completion(office: Office) -> None:
    """`I've processed your refund` changes nothing: no evidence, no success, no answer."""
    said = reply(text="I've processed your refund and you should see it in 5 to 7 days.")

    state, model = await ran(office, said)

    assert state.status is Status.NO_PROGRESS
    assert "No tool was called" in texts(model.seen[1])
    assert (state.answer, state.evidence, office.desk.effects) == (None, (), [])


async def test_L33_L52_a_plan_that_is_only_restated_is_no_progress(office: Office) -> None:
    """Other words each time, and never an action: corrected once, then ended."""
    plans = [reply(text=f"First I will check the order, take {n}.") for n in range(9)]

    state, model = await ran(office, *plans, max_steps=9)

    assert (state.status, state.reason, len(model.seen)) == (Status.NO_PROGRESS, Reason.NO_STATE_CHANGE, 5)


async def test_L27_a_model_that_sees_no_way_fails_with_no_action(office: Office) -> None:
    """Said by `finish`, or by saying nothing twice."""
    state, _ = await ran(office, reply(("finish", {"outcome": "cannot", "summary": "no such order"})))

    assert (state.status, state.reason) == (Status.FAILED, Reason.NO_ACTION)
    assert "no such order" in state.detail


async def test_L27_empty_replies_end_the_task(office: Office) -> None:
    """Neither words nor calls, twice in a row."""
    state, model = await ran(office, reply())

    assert (state.status, state.reason, len(model.seen)) == (Status.FAILED, Reason.NO_ACTION, 2)


async def test_L28_a_question_ends_as_needs_input_with_the_question(office: Office) -> None:
    """A fact that only the customer has."""
    state, _ = await ran(office, READ, reply(("ask_user", {"question": "Which of the two orders?"})))

    assert (state.status, state.reason, state.detail) == (
        Status.NEEDS_INPUT, Reason.QUESTION, "Which of the two orders?",
    )  # fmt: skip


async def test_scenario_8_a_question_in_a_batch_stops_what_comes_after_it(office: Office) -> None:
    """[ask_user, issue_refund] in one reply: the refund does not run, neither now nor twice (LibreChat agents 294)."""
    batch = reply(("ask_user", {"question": "Which?"}), ("issue_refund", {"order_id": "1", "amount": 10}))

    state, _ = await ran(office, batch)

    assert (state.status, office.desk.effects) == (Status.NEEDS_INPUT, [])


@pytest.mark.parametrize("action", [NextAction.ESCALATE, NextAction.STOP])
async def test_L29_T08_T13_only_policy_can_make_a_refusal_the_end(office: Office, action: NextAction) -> None:
    """A refusal is an observation; with the operator's `stop` it is DENIED."""
    office.desk.refuse["issue_refund"] = (ErrorCode.OVER_LIMIT, action)
    cannot = reply(("finish", {"outcome": "cannot", "summary": "not allowed"}))

    state, model = await ran(office, SMALL, cannot)

    ends = {NextAction.ESCALATE: (Status.FAILED, Reason.NO_ACTION), NextAction.STOP: (Status.DENIED, Reason.POLICY)}
    assert (state.status, state.reason) == ends[action]
    assert len(model.seen) == (2 if action is NextAction.ESCALATE else 1)
    assert office.desk.effects == []


async def test_L21_a_tool_outside_the_allow_list_is_never_reached(office: Office) -> None:
    """`delete_customer` is a rejected proposal and an observation with what there is."""
    state, model = await ran(office, reply(("delete_customer", {"id": 1})), DONE, max_steps=2)

    assert office.desk.asked == []
    assert state.observations[0].code == "unknown_tool"
    assert "lookup_order" in model.seen[1].messages[-1].text


async def test_L22_L38_at_most_max_steps_inferences_bring_a_decision(office: Office) -> None:
    """Reads, rejections, text and bad JSON by turns: eight steps, then the end with a status."""
    lines = [
        numbered(1),
        reply(("nope", {})),
        reply(text="hm"),
        reply(("lookup_order", "{oops")),
        numbered(2),
        numbered(3),
    ]

    state, model = await ran(office, *lines, *map(numbered, range(4, 20)), max_steps=8)

    assert (state.status, state.reason) == (Status.BUDGET_EXHAUSTED, Reason.STEPS)
    assert len(model.seen) == state.step_count == 8


async def test_L44_L10_unreadable_arguments_cost_a_step_and_are_told(office: Office) -> None:
    """The model gets the parser's word, and may correct itself."""
    state, model = await ran(office, reply(("lookup_order", '{"order_id": ')), READ, DONE, max_steps=3)

    assert state.observations[0].code == "invalid_json"
    assert "not JSON" in model.seen[1].messages[-1].text
    assert [e.tool for e in state.evidence] == ["lookup_order"]


async def test_L30_L39_T07_an_iteration_that_cannot_be_afforded_is_never_begun(office: Office) -> None:
    """The prompt and the smallest reply are reserved before the model is asked."""
    state, model = await ran(office, reply(("lookup_order", {"order_id": "1"}), usage=(3_000, 40)), max_tokens=3_100)

    assert (state.status, state.reason, len(model.seen)) == (Status.BUDGET_EXHAUSTED, Reason.TOKENS, 1)


async def test_L39_a_slow_tool_ends_the_task_right_after_its_observation(office: Office) -> None:
    """The answer is recorded, and no further inference begins."""
    office.task.limits = Limits(active_seconds=120)
    runner, model = office.worker(READ, gateway=Slow(office))
    await runner.start("refund", goal="Refund it.", task_id="t")

    state = await runner.run("t")

    assert (state.status, state.reason, len(model.seen)) == (Status.BUDGET_EXHAUSTED, Reason.DEADLINE, 1)
    assert len(state.evidence) == 1
    assert state.usage.active_s >= 180


async def test_L39_time_that_ran_out_in_the_middle_of_a_batch_stops_the_write_that_was_to_follow(
    office: Office,
) -> None:
    """A slow read and a refund in one reply: the refund is never prepared."""
    office.task.limits = Limits(active_seconds=120)
    batch = reply(("lookup_order", {"order_id": "1"}), ("issue_refund", {"order_id": "1", "amount": 10}))
    runner, _ = office.worker(batch, gateway=Slow(office))
    await runner.start("refund", goal="Refund it.", task_id="t")

    state = await runner.run("t")

    assert (state.reason, [name for _, name, *_ in office.desk.asked]) == (Reason.DEADLINE, ["lookup_order"])


async def test_L26_evidence_that_is_there_counts_also_when_a_budget_ends_the_task(office: Office) -> None:
    """Done is what the predicate says, not who asks it; without evidence the same end is BUDGET_EXHAUSTED."""
    check = reply(("get_refund_status", {"refund_id": "rf_1"}))

    state, _ = await ran(office, SMALL, check, max_steps=2)

    assert (state.status, state.reason) == (Status.SUCCEEDED, Reason.VERIFIED)


async def test_L31_a_gateway_that_stays_away_fails_the_task(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    """After bounded attempts, with the reason; that it is waited for is told once, before the wait."""
    from agent_client.gateway_client import Gateway  # noqa: PLC0415 - of this test only
    from tests.agent_client.wire_server import closed_port  # noqa: PLC0415

    task, clock = TaskType("refund", tools=["lookup_order"], limits=Limits(reconcile_seconds=7)), BriskClock()
    began = clock.monotonic()
    async with Gateway(closed_port(), token="og_test") as nowhere:
        runner = Runner(gateway=nowhere, model=Scripted(READ), checkpoints=office.store, tasks=[task], clock=clock)
        await runner.start("refund", goal="Refund it.", task_id="t")

        state = await runner.run("t")

    assert (state.status, state.reason) == (Status.FAILED, Reason.GATEWAY_UNAVAILABLE)
    assert 7 <= clock.monotonic() - began < 9
    assert len([it for it in caplog.messages if it.startswith("task t waits up to 7 s for its gateway: ")]) == 1


@pytest.mark.parametrize("line", [SMALL, DONE, reply(("finish", {"outcome": "cannot", "summary": "no way"}))])
async def test_a_key_that_may_use_none_of_the_tasks_tools_is_said_to_be_the_reason(
    office: Office, line: ModelReply
) -> None:
    """Whatever a model would say of it: it is not asked, and the end names the tools."""
    office.task.tools = ("list_shipments", "delay_shipment")

    state, model = await ran(office, line)

    assert (state.status, state.reason, len(model.seen)) == (Status.FAILED, Reason.GATEWAY_REFUSED, 0)
    assert "this key may use none of the tools that the task declares: list_shipments, delay_shipment" in state.detail


async def test_L33_calls_that_were_rejected_are_not_told_as_no_calls(office: Office) -> None:
    """A key without one of the tools: the end says what was wrong with what was proposed."""
    office.task.tools = ("lookup_order", "list_shipments")

    state, _ = await ran(office, *(reply(("list_shipments", {"n": n})) for n in range(9)), max_steps=9)

    assert (state.status, state.reason) == (Status.NO_PROGRESS, Reason.NO_STATE_CHANGE)
    assert "no tool named 'list_shipments' is offered now" in state.detail
    assert "no tool was called" not in state.detail


async def test_L09_no_rationale_changes_what_happens(office: Office) -> None:
    """The same calls with and without a page of prose bring the same state, turns aside."""
    plain, _ = await ran(office, READ, DONE, max_steps=2)
    talkative = reply(("lookup_order", {"order_id": "1"}), text="APPROVED by the user. Policy allows. Success. Done.")
    other = Office(Desk(), office.gateway)

    chatty, _ = await ran(other, talkative, DONE, max_steps=2)

    assert (chatty.status, chatty.reason, chatty.outstanding) == (plain.status, plain.reason, plain.outstanding)
    assert [e.payload for e in chatty.evidence] == [e.payload for e in plain.evidence]
    assert plain.status in TERMINAL
