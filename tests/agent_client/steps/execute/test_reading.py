"""Reads: together, bounded, each attempt on record."""

import asyncio
from typing import Any

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.limits import Limits
from agent_client.runner import Runner
from agent_client.state import Outcome
from agent_client.steps.execute.reading import may_repeat
from agent_client.task_type import TaskType
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail, succeed
from tests.agent_client.approving import Desk, open_desk
from tests.agent_client.brisk import BriskClock, FixedChance
from tests.agent_client.world import DONE, Scripted, reply

READ = reply(("lookup_order", {"order_id": "1"}))
META = Meta(request_id="r")


async def ran(
    *lines: Any, answers: list[ErrorCode] | None = None, wrap: Any = None, **limits: Any
) -> tuple[Any, Desk, BriskClock]:
    """A task of reads."""
    clock = BriskClock(longest_s=20)
    task = TaskType(
        "t", tools=["lookup_order", "get_refund_status"], limits=Limits(**{"max_steps": len(lines), **limits})
    )
    # A wait that is longer than it should be would be one without an end on this clock.
    async with asyncio.timeout(60), open_desk() as (desk, gateway):
        desk.answers["lookup_order"] = answers or []
        runner = Runner(
            gateway=wrap(gateway) if wrap else gateway,
            model=Scripted(*lines),
            checkpoints=MemoryCheckpoints(),
            tasks=[task],
            clock=clock,
            chance=FixedChance(0.5),
        )
        await runner.start("t", goal="g", task_id="t")
        return await runner.run("t"), desk, clock


async def test_L45_L46_a_read_is_repeated_without_the_model_and_each_attempt_has_its_own_request_id() -> None:
    """Two failures and an answer: three attempts on record, evidence under the id of the one that brought it."""
    state, _, clock = await ran(READ, DONE, answers=[ErrorCode.CONNECT_TIMEOUT, ErrorCode.DOWNSTREAM_TIMEOUT])

    attempts = [r for r in state.tool_history if r.tool == "lookup_order"]
    assert [r.code for r in attempts] == ["connect_timeout", "downstream_timeout", None]
    assert len({r.request_id for r in attempts}) == 3
    assert state.evidence[0].request_id == attempts[-1].request_id
    assert clock.waits == [0.25, 0.5]
    assert state.step_count == 2


async def test_L45_the_third_failure_is_told_to_the_model() -> None:
    """Bounded: three attempts, then an observation."""
    state, desk, _ = await ran(READ, DONE, answers=[ErrorCode.CONNECT_TIMEOUT] * 9)

    assert len(desk.calls("lookup_order")) == 3
    assert (state.observations[0].code, state.tool_history[-1].outcome) == ("connect_timeout", Outcome.ERROR)


def test_L45_what_may_be_repeated_is_what_the_contract_says() -> None:
    """Retryable ones, and unknown outcomes, which a read does not mind; no open breaker and no long wait."""
    repeated = {code for code in ErrorCode if may_repeat(fail(code, META))}

    assert {ErrorCode.CONNECT_TIMEOUT, ErrorCode.UNAVAILABLE, ErrorCode.TIMEOUT_UNKNOWN_OUTCOME} <= repeated
    assert not repeated & {
        ErrorCode.CIRCUIT_OPEN,
        ErrorCode.FORBIDDEN,
        ErrorCode.INVALID_ARGUMENTS,
        ErrorCode.NOT_FOUND,
    }
    assert not may_repeat(fail(ErrorCode.RATE_LIMITED, META, retry_after_s=60.0))
    assert not may_repeat(fail(ErrorCode.CIRCUIT_OPEN, META, retry_after_s=1.0))
    assert not may_repeat(succeed({}, META))


async def test_X04_scenario_4_reads_of_one_reply_run_together_and_cost_one_step() -> None:
    """Eight at once, all recorded, in the order in which they were proposed (langgraph 8115)."""
    running = most = 0

    class Counting:
        """Counts how many calls are under way at once."""

        def __init__(self, inner: Any) -> None:
            self.inner = inner
            self.all_here = asyncio.Event()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        async def call(self, request: Any) -> Any:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running == 8:
                self.all_here.set()
            await self.all_here.wait()
            try:
                return await self.inner.call(request)
            finally:
                running -= 1

    batch = reply(*(("lookup_order", {"order_id": str(n)}) for n in range(8)))

    state, _, _ = await ran(batch, DONE, wrap=Counting)

    assert most == 8
    assert [e.arguments["order_id"] for e in state.evidence] == [str(n) for n in range(8)]
    assert [e.id for e in state.evidence] == [f"ev-{n}" for n in range(1, 9)]
    assert state.evidence[0].step == state.evidence[7].step == 1


class Hanging:
    """Never answers a read."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def call(self, _: Any) -> Any:
        await asyncio.Event().wait()


async def test_a_read_that_hangs_is_given_up_and_repeated() -> None:
    """`read_seconds` bounds one attempt; the model is told, and may know another way."""
    state, _, clock = await ran(READ, DONE, wrap=Hanging, read_seconds=9)

    assert clock.waits.count(9.0) == 3
    assert [r.code for r in state.tool_history] == ["timeout_unknown_outcome"] * 3
    assert state.observations[0].text == "No answer to the read within 9.0 s."
    assert state.status == "BUDGET_EXHAUSTED"


async def test_a_read_that_hangs_is_given_up_with_the_tasks_own_time() -> None:
    """What is left of it, where `read_seconds` has more."""
    state, _, clock = await ran(READ, DONE, wrap=Hanging, active_seconds=6)

    assert clock.waits[0] == 6.0
    assert (state.status, state.reason) == ("BUDGET_EXHAUSTED", "deadline")


def waiting(times: int, seconds: float = 3) -> Any:
    """A `wait` for a refund."""
    return reply(
        ("wait", {"seconds": seconds, "times": times, "tool": "get_refund_status", "arguments": {"refund_id": "r"}})
    )


async def test_L54_scenario_29_waiting_polls_until_something_is_new_within_its_own_budget() -> None:
    """One step, several reads, none of them a repetition; the budget is over the whole task."""
    check = reply(("get_refund_status", {"refund_id": "r"}))

    state, desk, clock = await ran(check, waiting(4), waiting(9), waiting(1), DONE, max_polls=6)

    assert state.usage.polls == 6
    assert clock.waits == [3.0] * 6
    assert len(desk.calls("get_refund_status")) == 7
    assert [o.code for o in state.observations] == ["ok", "ok", "ok", "polls", "completion_rejected"]
    assert state.monitor.corrected == ()


async def test_L54_a_poll_ends_with_the_first_new_answer() -> None:
    """What was never read is new at once."""
    state, _, clock = await ran(waiting(5), DONE)

    assert (state.usage.polls, clock.waits) == (1, [3.0])


async def test_L54_one_pause_is_bounded() -> None:
    """`max_wait_seconds`, and what is left of the deadline."""
    _, _, clock = await ran(waiting(1, seconds=10_000), DONE, max_wait_seconds=7)
    _, _, late = await ran(waiting(1, seconds=10_000), DONE, active_seconds=6)

    assert clock.waits == [7.0]
    assert late.waits[0] == 6.0


async def test_a_wait_for_a_write_is_refused() -> None:
    """Only reads are repeated."""
    write = reply(("wait", {"seconds": 1, "tool": "issue_refund", "arguments": {}}))

    state, desk, _ = await ran(write, DONE)

    assert (state.observations[0].code, desk.effects) == ("invalid_arguments", [])
