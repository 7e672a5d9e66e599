"""One inference: its retries spend time and tokens and never a step."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.inference import ModelReply, ModelTrouble, Usage
from agent_client.limits import Limits
from agent_client.runner import Runner
from agent_client.status import Reason, Status
from agent_client.task_type import TaskType
from tests.agent_client.approving import open_desk
from tests.agent_client.brisk import BriskClock, FixedChance
from tests.agent_client.world import Scripted, reply

BUSY = ModelTrouble("429", retryable=True, usage=Usage(input_tokens=5))
READ = reply(("lookup_order", {"order_id": "1"}))
CANNOT = reply(("finish", {"outcome": "cannot", "summary": "no"}))


async def ran(*lines: Any, draw: float = 1.0, clock: BriskClock | None = None, **limits: Any) -> tuple[Any, Any, Any]:
    """A task against a desk, with a clock on which waits pass at once."""
    clock = clock or BriskClock()
    model = Scripted(*lines)
    task = TaskType("t", tools=["lookup_order"], limits=Limits(**{"max_steps": 3, **limits}))
    async with open_desk() as (_, gateway):
        runner = Runner(
            gateway=gateway,
            model=model,
            checkpoints=MemoryCheckpoints(),
            tasks=[task],
            clock=clock,
            chance=FixedChance(draw),
        )
        await runner.start("t", goal="g", task_id="t")
        return await runner.run("t"), model, clock


async def test_L42_L43_three_retries_after_at_most_half_a_second_one_and_two() -> None:
    """Four attempts, full jitter below each bound, tokens counted, and one step spent."""
    state, model, clock = await ran(BUSY, BUSY, BUSY, CANNOT, draw=0.5)

    assert clock.waits == [0.25, 0.5, 1.0]
    assert (len(model.seen), state.step_count, state.usage.inference_retries) == (4, 1, 3)
    assert state.usage.tokens_used == 3 * 5 + 100
    assert state.reason is Reason.NO_ACTION


async def test_L42_the_fourth_failure_is_the_last() -> None:
    """A provider that flaps cannot hold a task for ever."""
    state, model, clock = await ran(BUSY)

    assert (state.status, state.reason) == (Status.FAILED, Reason.MODEL_UNAVAILABLE)
    assert (len(model.seen), clock.waits) == (4, [0.5, 1.0, 2.0])


async def test_what_the_provider_asked_for_is_never_undercut() -> None:
    """`retry_after_s` is a lower bound."""
    _, _, clock = await ran(ModelTrouble("429", retryable=True, retry_after_s=7.0), CANNOT, draw=0.0)

    assert clock.waits == [7.0]


async def test_of_prose_no_more_is_kept_than_is_of_use() -> None:
    """8,000 characters; no decision reads them."""
    state, _, _ = await ran(reply(("lookup_order", {"order_id": "1"}), text="é" * 8_001), CANNOT)

    assert state.turns[0].text == "é" * 8_000


async def test_a_refusal_of_the_provider_is_not_repeated() -> None:
    """A bad request stays one (scenario 20: and nothing that was done is run again)."""
    state, model, _ = await ran(READ, ModelTrouble("400: bad tool schema", retryable=False))

    assert (state.status, state.reason, len(model.seen)) == (Status.FAILED, Reason.MODEL_REFUSED, 2)


async def test_L43_retries_spend_the_deadline() -> None:
    """A wait that is longer than what is left ends the task instead of sleeping through it."""
    slow = ModelTrouble("429", retryable=True, retry_after_s=13.0)

    state, model, clock = await ran(slow, active_seconds=12)

    assert (state.status, state.reason, len(model.seen), clock.waits) == (
        Status.BUDGET_EXHAUSTED, Reason.DEADLINE, 1, [],
    )  # fmt: skip


async def test_L43_retries_spend_tokens() -> None:
    """Failed attempts that cost more than there is end the task."""
    dear = ModelTrouble("500", retryable=True, usage=Usage(input_tokens=60_000))

    state, model, _ = await ran(dear)

    assert (state.reason, len(model.seen)) == (Reason.TOKENS, 2)


async def test_L42_an_inference_that_takes_too_long_is_given_up_and_repeated() -> None:
    """`inference_seconds` bounds one attempt; its prompt is counted as read."""
    asked = 0

    async def model(_: Any) -> ModelReply:
        nonlocal asked
        asked += 1
        if asked == 1:
            await asyncio.Event().wait()
        return CANNOT

    clock = BriskClock()
    task = TaskType("t", limits=Limits(inference_seconds=9))
    async with open_desk() as (_, gateway):
        runner = Runner(gateway=gateway, model=model, checkpoints=MemoryCheckpoints(), tasks=[task], clock=clock)
        await runner.start("t", goal="g", task_id="t")
        # The alarm of nine seconds is a short wait on this clock: it is over at once.
        state = await runner.run("t")

    assert asked >= 2
    assert state.usage.inference_retries >= 1
    assert state.usage.tokens_used > 0


async def test_L41_a_provider_that_counts_nothing_is_charged_an_estimate() -> None:
    """No usage in the reply does not mean no cost."""
    state, _, _ = await ran(reply(("finish", {"outcome": "cannot", "summary": "no"}), usage=(0, 0)))

    assert state.usage.input_tokens > 50
    assert state.usage.output_tokens > 5


async def test_L77_the_raw_reply_is_kept_for_replay() -> None:
    """As the provider gave it; a model without one is written down as it was read."""
    given = ModelReply(tool_calls=CANNOT.tool_calls, usage=Usage(input_tokens=1, output_tokens=1), raw={"id": "resp_1"})

    state, _, _ = await ran(READ, given)

    assert state.turns[1].raw == {"id": "resp_1"}
    assert state.turns[0].raw["tool_calls"][0][1] == "lookup_order"


async def test_a_fault_of_an_adapter_is_not_swallowed() -> None:
    """Anything but ModelTrouble is a bug, and is seen as one; the task can be run again."""

    async def broken(_: Any) -> ModelReply:
        raise RuntimeError("adapter")

    async with open_desk() as (_, gateway):
        store = MemoryCheckpoints()
        runner = Runner(gateway=gateway, model=broken, checkpoints=store, tasks=[TaskType("t")], clock=BriskClock())
        await runner.start("t", goal="g", task_id="t")
        with pytest.raises(RuntimeError, match="adapter"):
            await runner.run("t")

        assert (await runner.state("t")).status is Status.RUNNING


async def test_the_last_call_of_a_reply_that_was_cut_is_not_made() -> None:
    """Its arguments may be whole by chance only; the calls before it are, and the model is told to make it again."""
    two = reply(("lookup_order", {"order_id": "1"}), ("lookup_order", {"order_id": "4"}))
    state, model, _ = await ran(replace(two, truncated=True), READ, CANNOT)

    said = [(it.code, it.text) for it in state.observations if it.call_id == "call_1_2"]
    assert [code for code, _ in said] == ["invalid_json"]
    assert "make it again" in said[0][1]
    assert "make it again" in str(model.seen[1].messages)
    assert [it.call_id for it in state.evidence][:1] == ["call_1_1"]
