"""Where "there is nothing" is no proof: a call that is still before its claim, and a record that is another subject's."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import pytest

from agent_client.gateway_client import Gateway
from agent_client.ports import GatewayUnreachable
from agent_client.status import Reason, Status
from agent_client.wire import CallRequest
from gateway.contract.envelope import Envelope
from gateway.demo.behaviour import Behaviour, Ending, Hold
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.dying import Killed, MortalGateway, Reaper
from tests.agent_client.world import AGENTS, ISSUE, ORDER, Scripted, World, refund_task, reply, run_task

CANNOT: Final = reply(("finish", {"outcome": "cannot", "summary": "no refund was made"}))
BROKEN: Final = Behaviour(ending=Ending.STATUS, status=500)
_LONG: Final = {"connect": "5s", "read": "30s", "pool": "5s", "total": "60s"}
_PATIENT: Final[Mapping[str, Any]] = {
    "lookup_order": {"timeouts": _LONG},
    "issue_refund": {"timeouts": {**_LONG, "write": "5s", "grace": "300ms", "min_send": "20ms"}},
}


class Cut(MortalGateway):
    """Loses the first refund's connection while the gateway still asks a rule's look-up, and ends that at a refusal."""

    world: World
    first: asyncio.Task[Envelope] | None = None

    async def prepare(self, request: CallRequest) -> Envelope:
        return await self._heard(await self.inner.prepare(request))

    async def call(self, request: CallRequest) -> Envelope:
        if request.tool != "issue_refund" or self.first is not None:
            return await self._heard(await self.inner.call(request))
        seen = len(await self.world.events.after(0))
        self.first = asyncio.create_task(self.inner.call(request))
        while not any(event["event"] == "looked up" for event in await self.world.events.after(seen)):
            seen += 1
        raise GatewayUnreachable("connection reset", never_sent=False)

    async def _heard(self, envelope: Envelope) -> Envelope:
        if self.first is not None and not envelope.ok:
            self.world.scripts.release(ORDER)
            await self.first
        return envelope


@pytest.mark.parametrize("refused", ["prepare", "call"])
async def test_L06_L48_a_refusal_of_the_second_look_is_no_proof_about_a_first_send_under_way(
    make_world: MakeWorld, refused: str
) -> None:
    """No record, the same store, and a refusal: the call before it, not yet claimed, refunds all the same."""
    world = await make_world(_PATIENT)
    second = [] if refused == "prepare" else [Behaviour()]
    behaviours = (Behaviour(), Behaviour(hold=Hold.ANSWER), *second, BROKEN, BROKEN)
    world.provider(*behaviours, method="GET")
    cut = Cut(inner=world.gateway, reaper=Reaper())
    cut.world = world

    state = await run_task(world.runner(Scripted(ISSUE, CANNOT), gateway=cut))

    assert cut.first is not None
    assert (cut.first.result().ok, world.refunds()) == (True, 1)
    assert [(a.kind, a.status) for a in state.outstanding] == [("issue_refund", "executed")]
    assert [o.code for o in state.observations] == ["ok"]


@contextlib.asynccontextmanager
async def heir(world: World) -> AsyncIterator[Gateway]:
    """The same rights under another subject, which is not shown what the first one did."""
    world.permissions.discard("operations:settle")
    _, token = AGENTS
    async with Gateway(world.url, token=token) as gateway:
        yield gateway


async def left_behind(world: World, **limits: Any) -> None:
    """A worker sends its refund and dies with the answer in its hands."""
    task = refund_task(limits={"flight_seconds": 0, **limits})
    gateway = MortalGateway(world.gateway, Reaper(at=4))
    with pytest.raises(Killed, match="after call issue_refund"):
        await run_task(world.runner(Scripted(ISSUE, CANNOT), task, gateway=gateway), task_id="t")
    assert world.refunds() == 1


def identity(scope: str) -> Mapping[str, Any]:
    """A refund is one of its order and payment, within `scope`."""
    members = {"fields": ["order_id", "payment_id"], "scope": scope, "repeat": "deny", "window": "24h"}
    return {"issue_refund": {"identity": members}}


async def test_L34_L48_under_another_subject_nothing_is_sent_under_a_fresh_key(make_world: MakeWorld) -> None:
    """`scope: subject`: the record is hidden and the key another, so a person is called; one refund."""
    world = await make_world(identity("subject"))
    await left_behind(world)

    async with heir(world) as gateway:
        state = await world.runner(Scripted(CANNOT), gateway=gateway).run("t")

    assert (state.status, state.reason, world.refunds()) == (Status.FAILED, Reason.UNRECONCILED, 1)
    assert state.outstanding[0].flagged
    assert state.outstanding[0].key in state.detail


@pytest.mark.parametrize("scope", ["run", "global"])
async def test_L58_under_another_subject_the_same_key_finds_the_same_operation(
    make_world: MakeWorld, scope: str
) -> None:
    """The look shows nothing, the same call does."""
    world = await make_world(identity(scope))
    await left_behind(world)

    async with heir(world) as gateway:
        state = await world.runner(Scripted(CANNOT), gateway=gateway).run("t")

    assert ([a.status for a in state.outstanding], world.refunds()) == (["executed"], 1)


async def test_L48_under_another_subject_a_refusal_is_no_proof(make_world: MakeWorld) -> None:
    """It may not refund, and is not shown that a refund was made: never "not executed"."""
    world = await make_world(identity("run"))
    await left_behind(world, reconcile_seconds=0)
    world.permissions.discard("refunds:write")

    async with heir(world) as gateway:
        state = await world.runner(Scripted(CANNOT), gateway=gateway).run("t")

    assert (state.reason, state.outstanding[0].flagged) == (Reason.UNRECONCILED, True)


async def test_L11_a_proposal_that_died_before_it_was_heard_still_waits_for_its_approval(
    make_world: MakeWorld,
) -> None:
    """A gateway asks a person only where there is no record at all, so that word is believed at once."""
    world = await make_world(approvals=True)
    gateway = MortalGateway(world.gateway, Reaper(at=3))
    task = refund_task(limits={"reconcile_seconds": 0})
    with pytest.raises(Killed, match="before call issue_refund"):
        await run_task(world.runner(Scripted(ISSUE, CANNOT), task, gateway=gateway), task_id="t")

    state = await world.runner(Scripted(CANNOT)).run("t")

    assert state.status is Status.AWAITING_APPROVAL, state.detail
