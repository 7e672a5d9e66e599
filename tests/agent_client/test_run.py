"""What every call to the gateway carries."""

import re
from typing import Any

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.limits import Limits
from agent_client.runner import Runner
from agent_client.task_type import TaskType
from gateway.contract.requests import ToolSummary
from tests.agent_client.approving import TOOLS, open_desk
from tests.agent_client.dying import MortalGateway, Reaper
from tests.agent_client.world import Scripted, reply

READ = reply(("lookup_order", {"order_id": "1"}), usage=(1_200, 60))
ISSUE = reply(("issue_refund", {"order_id": "1", "amount": 5}))
CANNOT = reply(("finish", {"outcome": "cannot", "summary": "no"}))


class Keyed(MortalGateway):
    """A gateway whose refund asks for the caller's own key."""

    async def catalogue(self) -> tuple[ToolSummary, ...]:
        needs = {"issue_refund": {"needs_key": True}}
        fields = ToolSummary.__slots__
        return tuple(
            ToolSummary(**{**{f: getattr(t, f) for f in fields}, **needs.get(t.name, {})}) for t in TOOLS.values()
        )


async def sent(*lines: Any, task_id: str = "task-7") -> tuple[Any, list[Any], list[Any]]:
    """The final state, the calls of one run, and the requests as the server saw them."""
    task = TaskType("t", tools=["lookup_order", "issue_refund"], limits=Limits(max_steps=4))
    async with open_desk() as (desk, client):
        gateway = Keyed(client, Reaper())
        runner = Runner(gateway=gateway, model=Scripted(*lines), checkpoints=MemoryCheckpoints(), tasks=[task])
        await runner.start("t", goal="g", task_id=task_id)
        return await runner.run(task_id), gateway.calls, desk.asked


async def test_A05_a_call_names_its_run_step_and_tokens() -> None:
    """So that the gateway's row can."""
    _, _, asked = await sent(READ, CANNOT)

    assert asked[0][2]["run"] == {"id": "task-7", "step": 1, "tokens": 1_260}


async def test_every_attempt_has_a_request_id_and_a_span_of_the_tasks_trace() -> None:
    """One trace for the whole task."""
    state, calls, asked = await sent(READ, ISSUE, CANNOT)

    assert len({c.request_id for c in calls}) == len(calls) == 2
    spans = [headers["traceparent"] for *_, headers in asked]
    assert all(re.fullmatch(rf"00-{state.trace_id}-[0-9a-f]{{16}}-01", span) for span in spans)
    assert len(set(spans)) == len(spans)


async def test_L23_A12_a_callers_key_comes_from_task_and_action_never_from_the_attempt() -> None:
    """The same action twice is one key; another task's is another."""
    _, calls, _ = await sent(ISSUE, ISSUE, CANNOT)
    _, others, _ = await sent(ISSUE, CANNOT, task_id="task-8")

    assert calls[0].idempotency_key == calls[1].idempotency_key is not None
    assert others[0].idempotency_key != calls[0].idempotency_key


async def test_a_tool_that_asks_for_no_key_gets_none() -> None:
    """The gateway derives it."""
    _, calls, _ = await sent(READ, CANNOT)

    assert calls[0].idempotency_key is None
