"""Decisions made again: compared, with nothing run and nothing written."""

import asyncio
import contextlib
from typing import Any

import pytest

from agent_client.inference import ModelTrouble
from agent_client.limits import Limits
from agent_client.replay import Change, NoDecision, ReplayedCall, compare
from agent_client.runner import Runner, UnknownTask
from agent_client.sealing import AesSealer, new_key
from agent_client.task_type import TaskType
from tests.agent_client.brisk import BriskClock
from tests.agent_client.test_approvals import Office, office
from tests.agent_client.world import CHECK, DONE, LOOKUP, ORDER, REFUND, Scripted, World, refund_task, reply, run_task

__all__ = ["office"]

READ = reply(("lookup_order", {"order_id": "8472"}), text="Let me look.")
ISSUE = reply(("issue_refund", {"order_id": "8472", "amount": 900}))
CHECKED = reply(("get_refund_status", {"refund_id": "rf_1"}))


async def recorded(office: Office) -> Any:
    """A task with four decisions: a read, a write, a read, the end."""
    runner, _ = office.worker(READ, ISSUE, CHECKED, DONE)
    await runner.start("refund", goal="g", task_id="t")
    state = await runner.run("t")
    assert state.status == "SUCCEEDED", state.detail
    return state


async def test_L78_a_decision_is_compared_with_the_one_of_today_and_nothing_runs(office: Office) -> None:
    """The same state, the same evidence, another model: one argument differs, and the desk hears of no call."""
    state = await recorded(office)
    asked, before = len(office.desk.asked), await office.store.events("t")
    runner, model = office.worker(reply(("issue_refund", {"order_id": "8472", "amount": 950}), text="More."))

    diff = await runner.replay("t", at=1)

    assert (len(office.desk.asked), await office.store.events("t")) == (asked, before)
    assert await runner.state("t") == state
    assert "ev-1" in str(model.seen[0].messages)
    assert "ev-2" not in str(model.seen[0].messages)
    assert (diff.same, diff.same_prompt, diff.step, diff.version) == (False, True, 2, 1)
    assert [call.change for call in diff.calls] == [Change.ARGUMENTS]
    assert diff.calls[0].arguments == {"amount": (900, 950)}
    assert (diff.recorded_text, diff.proposed_text, diff.input_tokens) == ("", "More.", 90)


async def test_every_decision_of_a_task_can_be_made_again(office: Office) -> None:
    """Those after a write too, whose versions lie further apart."""
    await recorded(office)
    made = []
    for at in range((await office.worker(DONE)[0].state("t")).version + 1):
        runner, _ = office.worker(READ)
        with contextlib.suppress(NoDecision):
            made.append(await runner.replay("t", at=at))

    assert [diff.step for diff in made] == [1, 2, 3, 4]
    assert [diff.same_prompt for diff in made] == [True] * 4
    assert [diff.same for diff in made] == [True, False, False, False]


async def test_a_version_without_a_decision_says_which_have_one(office: Office) -> None:
    """The versions of a write lie between two decisions."""
    await recorded(office)
    runner, model = office.worker(READ)

    with pytest.raises(NoDecision, match="no decision was made from version 2; decisions were made from 0, 1, 3, 4"):
        await runner.replay("t", at=2)
    assert model.seen == []


async def test_another_model_may_be_given_and_its_prose_is_no_difference(office: Office) -> None:
    """`model=` is asked, the runner's own is not."""
    await recorded(office)
    runner, own = office.worker(DONE)

    diff = await runner.replay("t", at=0, model=Scripted(reply(("lookup_order", {"order_id": "8472"}), text="Hm.")))

    assert diff.same
    assert own.seen == []
    assert (diff.recorded[0].name, diff.proposed[0].name) == ("lookup_order", "lookup_order")


async def test_other_instructions_are_another_prompt(office: Office) -> None:
    """What was shown then is known by its hash."""
    await recorded(office)
    office.task.system = "Be brief."
    runner, _ = office.worker(READ)

    diff = await runner.replay("t", at=0)

    assert (diff.same_prompt, diff.same) == (False, True)


async def test_a_proposal_the_loop_would_reject_says_why(office: Office) -> None:
    """Validated as ever, and executed never."""
    await recorded(office)
    runner, _ = office.worker(reply(("delete_customer", {}), ("lookup_order", "{")))

    diff = await runner.replay("t", at=0)

    assert [call.change for call in diff.calls] == [Change.TOOL, Change.ADDED]
    assert diff.proposed[0].verdict.startswith("unknown_tool: no tool named 'delete_customer'")
    assert diff.proposed[1].verdict != "valid"
    assert diff.proposed[1].arguments == "{"


@pytest.mark.parametrize("trouble", [ModelTrouble("overloaded", retryable=True)])
async def test_a_model_that_does_not_answer_proposes_nothing(office: Office, trouble: ModelTrouble) -> None:
    """Trouble is told, and is no agreement."""
    await recorded(office)

    diff = await office.worker(trouble)[0].replay("t", at=0)

    assert (diff.trouble, diff.same, diff.proposed) == ("overloaded", False, ())
    assert diff.calls[0].change is Change.MISSING


async def test_a_model_that_does_not_answer_in_time_proposes_nothing(office: Office) -> None:
    """`inference_seconds`, or what is left of the task's own time where that is less."""

    async def silent(_: Any) -> Any:
        await asyncio.Event().wait()

    for name, limits in (("a", Limits(inference_seconds=9)), ("b", Limits(active_seconds=7))):
        runner, _ = office.worker(READ, DONE)
        await runner.start("refund", goal="g", task_id=name, limits=limits)
        await runner.run(name)
    clock = BriskClock(longest_s=20)
    patient = Runner(gateway=office.gateway, model=silent, checkpoints=office.store, tasks=[office.task], clock=clock)

    async with asyncio.timeout(60):
        told = [(await patient.replay(name, at=0)).trouble for name in ("a", "b")]

    assert told == ["no answer within 9.0 s", "no answer within 7.0 s"]
    assert clock.waits == [9.0, 7.0]


async def test_a_prompt_that_cannot_be_afforded_any_more_is_told(office: Office) -> None:
    """Instructions that have outgrown the budget are found before a model is asked."""
    await recorded(office)
    office.task.system = "word " * 200_000
    runner, model = office.worker(READ)

    diff = await runner.replay("t", at=0)

    assert "tokens" in (diff.trouble or "")
    assert model.seen == []


async def test_what_is_not_there_is_an_error(office: Office) -> None:
    """No task, a type this runner does not have, a task before its first decision, a version to come."""
    runner, _ = office.worker(DONE)
    with pytest.raises(UnknownTask, match="no task has the id t"):
        await runner.replay("t", at=0)

    await runner.start("refund", goal="g", task_id="t")
    with pytest.raises(NoDecision, match="no model has decided yet"):
        await runner.replay("t", at=0)

    office.task = TaskType("other")
    with pytest.raises(UnknownTask, match="there are: other"):
        await office.worker(DONE)[0].replay("t", at=0)


async def test_after_pruning_what_is_kept_can_still_be_replayed(office: Office) -> None:
    """Earlier versions say that they are gone."""
    state = await recorded(office)
    runner, _ = office.worker(CHECKED)
    last = state.version - 1
    await office.store.prune("t", below=state.version)

    with pytest.raises(NoDecision):
        await runner.replay("t", at=0)
    with pytest.raises(NoDecision):
        await runner.replay("t", at=last)


async def test_L80_sensitive_arguments_are_on_neither_side(world: World) -> None:
    """History has them sealed; what today's model writes in their place is not shown and no difference."""
    secret, other = "customer fell ill, diagnosis K35", "something else altogether"
    line = reply(("issue_refund", {**REFUND, "amount_paise": 50_000, "reason": secret}))
    sealer = AesSealer([new_key()])
    runner = world.runner(
        Scripted(LOOKUP, line, reply(("get_refund_status", {"order_id": ORDER})), DONE), sealer=sealer
    )
    state = await run_task(runner)
    assert state.status == "SUCCEEDED", state.detail

    again = Scripted(reply(("issue_refund", {**REFUND, "amount_paise": 50_000, "reason": other})))
    diff = await runner.replay(state.task_id, at=1, model=again)

    assert diff.same, diff
    assert diff.recorded[0].verdict == "not checked: sensitive values are sealed"
    assert secret not in repr(diff) + repr(again.seen)
    assert other not in repr(diff)
    assert world.refunds() == 1


async def test_a_replay_on_a_real_gateway_makes_no_operation(world: World) -> None:
    """A write that is proposed again reaches neither the gateway nor the provider."""
    runner = world.runner(Scripted(LOOKUP, CHECK, DONE), refund_task(limits={"max_steps": 3}))
    await run_task(runner)

    diff = await runner.replay("task-8472-a", at=1, model=Scripted(reply(("issue_refund", REFUND))))

    assert diff.calls[0].change is Change.TOOL
    assert world.refunds() == 0
    assert await world.gateway.operations() == ()


def test_arguments_are_compared_as_json_readers_see_them() -> None:
    """1 and 1.0 are one value; a name that is absent is not a name whose value is null."""

    def call(**arguments: Any) -> ReplayedCall:
        return ReplayedCall(name="t", arguments=arguments, verdict="valid")

    assert compare(call(a=1, b="x"), call(b="x", a=1.0)).change is Change.SAME
    assert compare(call(a=None), call()).arguments == {"a": (None, "(absent)")}
    assert compare(call(a=1), None).change is Change.MISSING
