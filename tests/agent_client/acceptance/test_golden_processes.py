"""Order 8472 version by version, with nothing of ours in between: a provider, a gateway and SQLite as they are shipped."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from agent_client import Gateway, LoopState, Runner, SQLiteCheckpoints, Unsealed
from agent_client.events import Marked
from agent_client.examples.order_8472 import CUSTOMER, GOAL, ORDER, refund, script
from agent_client.fold import fold
from bench.nursery import forked
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.provider_process import ProviderProcess
from gateway.demo.sides import AGENT_MAY

pytestmark = pytest.mark.slow

MANIFESTS = Path(__file__).parents[3] / "tool_manifests"
TASK = "task-8472-a"


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A gateway process in front of a provider process, and two who may ask it something."""

    provider: ProviderProcess
    agent: Gateway
    lead: Gateway


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Both processes, the example tools as they are, and a key each for an agent and a support lead."""
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(provider.stop)
        keys = tmp_path / "keys.json"
        agent, _ = create_key(
            keys,
            subject="refund-agent",
            tenant="acme",
            permissions=AGENT_MAY,
            attributes={"max_refund_paise": 200_000, "customer_id": CUSTOMER},
        )
        lead, _ = create_key(
            keys,
            subject="lead-7",
            tenant="acme",
            permissions=("refunds:approve",),
            attributes={"max_approval_paise": 500_000},
        )
        gateway = await start_gateway(tmp_path, manifests=MANIFESTS, provider_url=provider.url, launch=forked)
        stack.push_async_callback(gateway.stop)
        clients = [await stack.enter_async_context(Gateway(gateway.url, token=token)) for token in (agent, lead)]
        yield Shop(provider=provider, agent=clients[0], lead=clients[1])


async def versions(runner: Runner) -> list[LoopState]:
    """The state as each version was made, from the log that lies in the file."""
    log = [event async for event in runner.events(TASK)]
    ends = [at for at, event in enumerate(log, 1) if isinstance(event, Marked) and (event.checkpoint or at == 2)]
    return [fold(None, log[:at]) for at in ends]


@contextlib.contextmanager
def worker(shop: Shop, folder: Path) -> Iterator[Runner]:
    """A worker that has nothing but the file."""
    checkpoints = SQLiteCheckpoints(folder / "runs.db")
    with contextlib.closing(checkpoints):
        yield Runner(gateway=shop.agent, model=script, checkpoints=checkpoints, tasks=[refund], sealer=Unsealed())


def stands(state: LoopState) -> tuple[object, ...]:
    """A version in one line: steps, tokens, status, actions by how they stand, evidence."""
    actions = " ".join(f"{action.kind}:{action.status}" for action in state.outstanding)
    return state.version, state.step_count, state.usage.tokens_used, state.status.value, actions, len(state.evidence)


UNTIL_A_PERSON_IS_ASKED: Final = [
    (0, 0, 0, "RUNNING", "", 0),
    (1, 1, 1_260, "RUNNING", "", 1),
    (2, 2, 2_965, "RUNNING", "", 2),
    (3, 3, 5_335, "RUNNING", "", 3),
    (4, 4, 7_915, "AWAITING_APPROVAL", "issue_refund:proposed", 3),
]
AFTER_THE_APPROVAL: Final = [
    (5, 4, 7_915, "RUNNING", "issue_refund:intended", 3),
    (6, 4, 7_915, "RUNNING", "issue_refund:executed", 4),
    (7, 4, 7_915, "RUNNING", "issue_refund:verified", 5),
    (8, 4, 7_915, "RUNNING", "issue_refund:verified notify_customer:intended", 5),
    (9, 4, 7_915, "RUNNING", "issue_refund:verified notify_customer:executed", 6),
    (10, 4, 7_915, "SUCCEEDED", "issue_refund:verified notify_customer:executed", 6),
]


async def test_L13_L14_L15_L20_the_golden_trace_of_order_8472_by_processes(shop: Shop, tmp_path: Path) -> None:
    """Versions 0 to 4 as the document has them, and 5 to 10 once a lead has approved: one refund, one message."""
    with worker(shop, tmp_path) as runner:
        await runner.start("refund", goal=GOAL, task_id=TASK)
        suspended = await runner.run(TASK)
        assert [stands(state) for state in await versions(runner)] == UNTIL_A_PERSON_IS_ASKED
    assert await shop.provider.effects() == 0
    assert suspended.approval is not None
    (waiting,) = await shop.lead.approvals(state="pending")
    (proposed,) = suspended.outstanding
    assert (waiting.approval_id, waiting.action_hash) == (suspended.approval.id, proposed.action_hash)

    assert (await shop.lead.decide(waiting.approval_id, approve=True)).ok
    with worker(shop, tmp_path) as runner:
        final = await runner.run(TASK)
        states = await versions(runner)

    assert states[-1] == final
    assert [stands(state) for state in states] == UNTIL_A_PERSON_IS_ASKED + AFTER_THE_APPROVAL
    assert {state.outstanding[0].key for state in states[4:]} == {proposed.key}
    assert [(e.id, e.tool, e.source, e.ref) for e in final.evidence] == [
        ("ev-1", "lookup_order", "payments", None),
        ("ev-2", "get_refund_status", "payments", None),
        ("ev-3", "search_policy", "policies", "POL-REF-004 v4 §3.2"),
        ("ev-4", "issue_refund", "payments", None),
        ("ev-5", "get_refund_status", "payments", None),
        ("ev-6", "notify_customer", "notifications", None),
    ]
    assert [(r.step_id, r.outcome, r.evidence_id) for r in final.tool_history] == [
        (min(at, 4), "ok", f"ev-{at}") for at in range(1, 7)
    ]
    assert (await shop.provider.effects(ORDER), await shop.provider.effects(CUSTOMER)) == (1, 1)
