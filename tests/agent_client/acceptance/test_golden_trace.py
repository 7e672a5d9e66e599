"""Order 8472, version by version, as the loop document tells it."""

from collections.abc import AsyncIterator
from typing import Any

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.events import Marked
from agent_client.fold import fold
from agent_client.limits import Limits
from agent_client.runner import Runner
from agent_client.state import LoopState
from agent_client.status import Status
from agent_client.task_type import TaskType
from tests.agent_client.approving import open_desk
from tests.agent_client.world import Scripted, reply
from tests.clocks import ManualClock

ORDER = {
    "order_id": "8472",
    "customer_id": "cust-3391",
    "total_inr": 2000,
    "payments": [
        {"payment_id": "pay_5a1", "amount_inr": 2000, "status": "captured", "at": "2026-10-20T09:14:02Z"},
        {"payment_id": "pay_5a2", "amount_inr": 2000, "status": "captured", "at": "2026-10-20T09:14:41Z"},
    ],
}
POLICY = {"passages": [{"doc": "POL-REF-004", "version": "v4", "section": "3.2", "text": "Refunds above INR 1,000 …"}]}
LINES = (
    reply(("lookup_order", {"order_id": "8472"}), usage=(1_200, 60)),
    reply(("get_refund_status", {"refund_id": "of order 8472"}), usage=(1_640, 65)),
    reply(("search_policy", {"query": "duplicate card capture refund approval threshold"}), usage=(2_300, 70)),
    reply(("issue_refund", {"order_id": "8472", "amount": 2_000}), usage=(2_500, 80)),
)


def named(payload: Any) -> str:
    """The passage a person can look up."""
    first = payload["passages"][0]
    return f"{first['doc']} {first['version']} §{first['section']}"


async def checkpoints_of(runner: Runner) -> AsyncIterator[LoopState]:
    """The state as each version was made."""
    log = [event async for event in runner.events("task-8472-a")]
    for at, event in enumerate(log, start=1):
        if isinstance(event, Marked) and (event.checkpoint or at == 2):
            yield fold(None, log[:at])


async def test_L13_L14_L15_L20_the_golden_trace_of_order_8472() -> None:
    """Versions 0 to 4, steps 1 to 4, tokens 1,260, 2,965, 5,335, three pieces of evidence, and then a person."""
    store = MemoryCheckpoints()
    task = TaskType(
        "refund",
        tools=("lookup_order", "get_refund_status", "search_policy", "issue_refund"),
        limits=Limits(max_steps=8, active_seconds=120, max_tokens=40_000),
    )
    task.ref("search_policy")(named)
    async with open_desk() as (desk, gateway):
        desk.reads = {
            "lookup_order": ("payments-service", ORDER),
            "get_refund_status": ("refunds-service", {"order_id": "8472", "refunds": []}),
            "search_policy": ("policy-store", POLICY),
        }
        runner = Runner(gateway=gateway, model=Scripted(*LINES), checkpoints=store, tasks=[task], clock=ManualClock())
        await runner.start("refund", goal="Order 8472 was charged twice …", task_id="task-8472-a")
        final = await runner.run("task-8472-a")

    states = [state async for state in checkpoints_of(runner)]
    assert [s.version for s in states] == [0, 1, 2, 3, 4]
    assert [s.step_count for s in states] == [0, 1, 2, 3, 4]
    assert [s.usage.tokens_used for s in states][:4] == [0, 1_260, 2_965, 5_335]
    assert [[e.id for e in s.evidence] for s in states][:4] == [
        [],
        ["ev-1"],
        ["ev-1", "ev-2"],
        ["ev-1", "ev-2", "ev-3"],
    ]
    assert [e.source for e in final.evidence] == ["payments-service", "refunds-service", "policy-store"]
    assert final.evidence[2].ref == "POL-REF-004 v4 §3.2"
    assert [(r.step_id, r.tool, r.outcome, r.evidence_id) for r in states[3].tool_history] == [
        (1, "lookup_order", "ok", "ev-1"),
        (2, "get_refund_status", "ok", "ev-2"),
        (3, "search_policy", "ok", "ev-3"),
    ]
    assert [s.status for s in states] == [Status.RUNNING] * 4 + [Status.AWAITING_APPROVAL]
    (action,) = final.outstanding
    assert (action.kind, action.status, bool(action.key)) == ("issue_refund", "proposed", True)
    assert states[3].outstanding == ()
    assert final.approval is not None
    assert final.approval.expires_wall is not None
    assert desk.effects == []
