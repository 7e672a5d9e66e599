"""`Gateway.sync` does what `Gateway` does."""

import asyncio
import inspect
from pathlib import Path

import pytest

from agent_client.gateway_client import Gateway, NotAnEnvelope, Patience
from agent_client.gateway_client.blocking import BlockingGateway
from agent_client.gateway_client.exchange import Bounds, Connection
from agent_client.ports import GatewayUnreachable
from agent_client.wire import CallRequest, OperationState, read_prepared
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.requests import SettledAs
from tests.agent_client import envelopes as wire
from tests.agent_client.cutter import cutting
from tests.agent_client.site import Site, open_site
from tests.agent_client.wire_server import closed_port, serving

REFUND = {"order_id": "ORD-8472", "payment_id": "pay_5a2", "amount_paise": 200_000}
REQUEST = CallRequest(tool="issue_refund", arguments=REFUND, request_id="r", run_id="run-7", step=4)


class Waits:
    """A clock that notes what it was asked to wait, and has waited already."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def monotonic(self) -> float:
        return sum(self.waited)

    def sleep_blocking(self, seconds: float) -> None:
        self.waited.append(seconds)


def test_both_faces_have_the_same_methods() -> None:
    """Name by name, parameter by parameter."""
    for name, method in inspect.getmembers(Gateway, inspect.iscoroutinefunction):
        if not name.startswith("_") and name != "aclose":
            assert inspect.signature(method) == inspect.signature(getattr(BlockingGateway, name)), name


def _live(site: Site) -> tuple[str, OperationState, int]:
    with cutting(site.url, "/calls") as between, Gateway(between.url, token=site.token).sync as gateway:
        intent = read_prepared(gateway.prepare(REQUEST).data).intent
        envelope = gateway.carry_out("issue_refund", REFUND, run_id="run-7")
        assert intent is not None
        operation = gateway.operation(key=intent.operation_key)
        assert operation is not None
        assert gateway.operation(operation_id=operation.operation_id) == operation
        assert gateway.operations(run_id="run-7") == (operation,)
        assert gateway.reconcile(operation.operation_id).ok
        assert gateway.call(REQUEST).meta.replayed
        return envelope.data["status"], operation.state, len(gateway.catalogue())


@pytest.mark.slow
async def test_against_a_real_gateway(tmp_path: Path) -> None:
    """A lost answer is asked for again; the effect is one."""
    async with open_site(tmp_path) as site:
        _, state, tools = await asyncio.to_thread(_live, site)

        assert state is OperationState.DONE
        assert tools == 2
        assert len(await site.provider.refunds("ORD-8472")) == 1


def test_approvals_and_settlements() -> None:
    """The same requests as the other face makes."""
    approval = {"approval_id": "apr-1", "state": "pending", "tool": "t", "action_hash": "sha256:1"}
    script = (wire.done({"approvals": [approval]}), wire.done(approval), wire.done({}), wire.done({}))
    with serving(*script) as server, Gateway(server.url, token="t").sync as gateway:
        assert gateway.approvals() == (gateway.approval("apr-1"),)
        gateway.decide("apr-1", approve=False, note="no")
        gateway.settle("op-1", SettledAs.NOT_EXECUTED, evidence="seen")

    assert server.seen[2].json == {"decision": "deny", "note": "no"}
    assert server.seen[3].json == {"settled_as": "not_executed", "evidence": "seen"}


def test_waits_and_counts() -> None:
    """`Retry-After` is honoured, an unproved send is counted, and a wait that does not fit is not begun."""
    clock = Waits()
    limited = wire.refused(ErrorCode.RATE_LIMITED, retry_after_s=40)
    with (
        serving(wire.prepared(), limited, wire.page(503), limited) as server,
        BlockingGateway(Connection(server.url, "t", Bounds()), clock=clock) as gateway,
    ):
        envelope = gateway.carry_out("issue_refund", REFUND, run_id="run-7")

    assert clock.waited[0] == 40
    assert len(clock.waited) == 2
    assert [seen.headers["idempotency-attempt"] for seen in server.seen] == ["1", "1", "1", "2"]
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN


def test_silence_is_told_as_what_it_proves() -> None:
    """A page is no envelope; nobody there is a proof that nothing was sent."""
    with serving(wire.page(502)) as server, Gateway(server.url, token="t").sync as page, pytest.raises(NotAnEnvelope):
        page.call(REQUEST)
    with Gateway(closed_port(), token="t").sync as gateway:
        with pytest.raises(GatewayUnreachable) as raised:
            gateway.prepare(REQUEST)
        with pytest.raises(ValueError, match="one of them"):
            gateway.operation()
        envelope = gateway.carry_out("issue_refund", {}, run_id="r", patience=Patience(sends=1))

    assert raised.value.never_sent
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.NOT_EXECUTED
