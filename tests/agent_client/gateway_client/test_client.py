"""`Gateway` against a real gateway, and against something that only looks like one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_client.gateway_client import Gateway, NotAnEnvelope, Patience
from agent_client.ports import Chance, GatewayRefused, GatewayUnreachable, ToolGateway
from agent_client.wire import CallRequest, OperationState, read_operation, read_prepared
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.requests import SettledAs
from tests.agent_client import envelopes as wire
from tests.agent_client.cutter import cutting
from tests.agent_client.site import Site, open_site
from tests.agent_client.wire_server import Hang, answer, closed_port, serving
from tests.clocks import ManualClock

REFUND = {"order_id": "ORD-8472", "payment_id": "pay_5a2", "amount_paise": 200_000}


class Half(Chance):
    """Always the middle."""

    def draw(self) -> float:
        return 0.5

    def hex(self, digits: int) -> str:
        return "a" * digits


def request(**changes: object) -> CallRequest:
    fields = {"tool": "issue_refund", "arguments": REFUND, "request_id": "r", "run_id": "run-7", "step": 4}
    return CallRequest(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """A provider and a gateway in front of it."""
    async with open_site(tmp_path) as opened:
        yield opened


@pytest.mark.slow
async def test_a_whole_life_of_an_action(site: Site) -> None:
    """Catalogue, prepare, call, the same call again, the operation by id and by key: as a loop asks for them."""
    async with Gateway(site.url, token=site.token) as gateway:
        door: ToolGateway = gateway
        tools = {tool.name: tool.effect for tool in await door.catalogue()}
        prepared = read_prepared((await door.prepare(request())).data)
        first = await door.call(request(expect=prepared.intent))
        again = await door.call(request(expect=prepared.intent, attempt=2))
        by_id = await door.operation(operation_id=first.meta.operation_id)
        by_key = await door.operation(key=prepared.operation_key)
        looked = read_operation((await door.reconcile(str(first.meta.operation_id))).data)
        listed = await gateway.operations(run_id="run-7", state="done", tool="issue_refund", limit=5)

    assert tools == {"issue_refund": "write", "get_refund_status": "read"}
    assert first.ok
    assert again.meta.replayed
    assert again.data == first.data
    assert by_id is not None
    assert by_id == by_key == looked == listed[0]
    assert by_id.state is OperationState.DONE
    assert len(await site.provider.refunds("ORD-8472")) == 1


@pytest.mark.slow
async def test_refusals_are_envelopes_and_absence_is_none(site: Site) -> None:
    """An operation nobody has is None; a settlement of it is a refusal; an action hash that moved is stale."""
    async with Gateway(site.url, token=site.token) as gateway:
        assert await gateway.operation(operation_id="01NOSUCH") is None
        assert await gateway.operation(key="no-such-key") is None
        settled = await gateway.settle("01NOSUCH", SettledAs.EXECUTED, evidence="seen in the dashboard")
        intent = read_prepared((await gateway.prepare(request())).data).intent
        other = {**REFUND, "amount_paise": 1}
        stale = await gateway.call(request(arguments=other, expect=intent))

    assert settled.error is not None
    assert settled.error.code is ErrorCode.OPERATION_NOT_FOUND
    assert stale.error is not None
    assert stale.error.code is ErrorCode.INTENT_STALE
    assert await site.provider.refunds("ORD-8472") == []


@pytest.mark.slow
async def test_scenario_18_an_answer_that_was_cut_off_is_asked_for_again_and_the_effect_is_one(site: Site) -> None:
    """The first answer is lost on the way; the same call, counted, gets the stored one."""
    with cutting(site.url, "/calls") as between:
        async with Gateway(between.url, token=site.token) as gateway:
            envelope = await gateway.carry_out("issue_refund", REFUND, run_id="run-7")

    assert envelope.ok
    assert envelope.meta.replayed
    assert between.cut == 1
    assert len(await site.provider.refunds("ORD-8472")) == 1


@pytest.mark.slow
async def test_a_wrong_token_is_refused_by_name(site: Site) -> None:
    """The catalogue is not empty: it was refused."""
    async with Gateway(site.url, token="og_wrong") as gateway:
        with pytest.raises(GatewayRefused) as raised:
            await gateway.catalogue()

    assert raised.value.envelope.error is not None
    assert raised.value.envelope.error.code is ErrorCode.UNAUTHENTICATED


async def test_one_send_a_call_and_what_is_known_of_a_lost_one() -> None:
    """Nothing is repeated behind the loop's back; the exception tells whether the request can have arrived."""
    with serving(wire.page(502)) as server:
        async with Gateway(server.url, token="t") as gateway:
            with pytest.raises(NotAnEnvelope):
                await gateway.call(request())
    async with Gateway(closed_port(), token="t") as gateway:
        with pytest.raises(GatewayUnreachable) as never:
            await gateway.call(request())

    assert len(server.seen) == 1
    assert never.value.never_sent


async def test_approvals_are_read_and_decided() -> None:
    """Inbox, one approval, the decision and its note."""
    approval = {"approval_id": "apr-1", "state": "pending", "tool": "issue_refund", "action_hash": "sha256:1"}
    script = (wire.done({"approvals": [approval]}), wire.done(approval), wire.done({}), wire.done({}))
    with serving(*script) as server:
        async with Gateway(server.url, token="t") as gateway:
            inbox = await gateway.approvals(state="pending")
            one = await gateway.approval("apr-1")
            await gateway.decide("apr-1", approve=True, note="seen")
            await gateway.decide("apr-1", approve=False)

    assert inbox == (one,)
    assert [seen.path for seen in server.seen] == [
        "/v1/approvals?state=pending",
        "/v1/approvals/apr-1",
        "/v1/approvals/apr-1/decision",
        "/v1/approvals/apr-1/decision",
    ]
    assert server.seen[2].json == {"decision": "approve", "note": "seen"}
    assert server.seen[3].json == {"decision": "deny"}


async def test_an_operators_word_is_sent_with_its_evidence() -> None:
    """`settle` carries what it rests on, and the result where there is one."""
    with serving(wire.done({})) as server:
        async with Gateway(server.url, token="t") as gateway:
            await gateway.settle("op-1", SettledAs.EXECUTED, evidence="seen", result={"refund_id": "r1"})

    assert server.seen[0].path == "/v1/operations/op-1/settle"
    assert server.seen[0].json == {"settled_as": "executed", "evidence": "seen", "result": {"refund_id": "r1"}}


async def test_waits_are_the_clocks_and_at_least_what_was_asked() -> None:
    """`Retry-After` of the envelope is honoured; otherwise chance draws below the bound."""
    clock = ManualClock()
    limited = wire.refused(ErrorCode.RATE_LIMITED, retry_after_s=7)
    with serving(wire.prepared(), limited, wire.page(503), wire.done({"refund_id": "r1"})) as server:
        async with Gateway(server.url, token="t", clock=clock, chance=Half()) as gateway:
            running = asyncio.create_task(gateway.carry_out("issue_refund", REFUND, run_id="run-7", timeout_s=9))
            await clock.sleepers(1)
            await clock.advance(6.9)
            assert len(server.seen) == 2
            await clock.advance(0.2)
            await clock.sleepers(1)
            assert len(server.seen) == 3
            await clock.advance(0.5)
            envelope = await running

    assert envelope.ok
    assert [seen.headers["idempotency-attempt"] for seen in server.seen] == ["1", "1", "1", "2"]
    assert {seen.headers.get("oncegate-store-epoch") for seen in server.seen[1:]} == {"epoch-1"}
    assert {seen.headers["x-request-timeout-ms"] for seen in server.seen} == {"9000"}


async def test_a_wait_that_does_not_fit_is_not_begun() -> None:
    """The time for the whole action is over before the wait would be: what is known is told now."""
    with serving(wire.prepared(), wire.refused(ErrorCode.RATE_LIMITED, retry_after_s=61)) as server:
        async with Gateway(server.url, token="t", clock=ManualClock()) as gateway:
            envelope = await gateway.carry_out("issue_refund", REFUND, run_id="r", patience=Patience(within_s=60))

    assert envelope.error is not None
    assert envelope.error.retry_after_s == 61
    assert len(server.seen) == 2


async def test_a_page_in_place_of_an_answer_is_never_a_result() -> None:
    """200 and HTML after a write: the outcome is unknown, and says so."""
    with serving(wire.prepared(), wire.page(200)) as server:
        async with Gateway(server.url, token="t") as gateway:
            envelope = await gateway.carry_out("issue_refund", REFUND, run_id="run-7")

    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN
    assert "portal" not in envelope.error.message


async def test_giving_up_a_call_closes_its_connection() -> None:
    """A cancelled call leaves nothing open, and does not hang."""
    with serving(Hang()) as server:
        async with Gateway(server.url, token="t") as gateway:
            calling = asyncio.create_task(gateway.call(request()))
            await asyncio.to_thread(server.asked.wait, 30)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
        assert await asyncio.to_thread(server.gone.wait, 30)


def test_one_gateway_serves_one_event_loop_after_the_other() -> None:
    """`asyncio.run` twice with the same object: connections of a loop that has ended are not used."""
    with serving(answer(b"{}", status=500), wire.done({"tools": []})) as server:
        gateway = Gateway(server.url, token="t")

        async def ask() -> int:
            async with gateway:
                return len(await gateway.catalogue())

        with pytest.raises(NotAnEnvelope):
            asyncio.run(ask())
        assert asyncio.run(ask()) == 0


async def test_exactly_one_name_of_an_operation_is_asked_for() -> None:
    """Neither none nor both."""
    gateway = Gateway("http://localhost:1", token="t")
    for names in ({}, {"operation_id": "a", "key": "b"}):
        with pytest.raises(ValueError, match="one of them"):
            await gateway.operation(**names)


def test_no_token_in_a_repr() -> None:
    """Where a gateway is named in a log line, its address is enough."""
    gateway = Gateway("http://localhost:8080", token="og_secret")

    assert repr(gateway) == "<Gateway http://localhost:8080>"
    with gateway.sync as blocking:
        assert repr(blocking) == "<BlockingGateway http://localhost:8080>"
