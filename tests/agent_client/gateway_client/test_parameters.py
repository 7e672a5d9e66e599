"""Every parameter of both faces reaches the wire, or the bound it names."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import trustme

from agent_client.gateway_client import Gateway, Patience
from agent_client.gateway_client.asking import Ask
from agent_client.gateway_client.blocking import BlockingGateway
from agent_client.gateway_client.exchange import Bounds, Connection, exchange, exchange_blocking
from agent_client.gateway_client.heard import Answer, Heard, Silence
from agent_client.ports import Chance
from agent_client.system import SystemClock
from gateway.contract.codes import ErrorCode
from gateway.contract.requests import SettledAs
from tests.agent_client import envelopes as wire
from tests.agent_client.wire_server import Hang, Seen, serving

ASK = Ask(method="GET", path="/v1/tools")

Face = Any
Asked = Callable[[Face], Any]

CALLS: tuple[tuple[str, Asked, tuple[str, str, Any]], ...] = (
    (
        "operations",
        lambda g: g.operations(state="unknown", run_id="run-7", tool="issue_refund", limit=3),
        ("GET", "/v1/operations?state=unknown&run_id=run-7&tool=issue_refund&limit=3", None),
    ),
    ("operation", lambda g: g.operation(key="k 1"), ("GET", "/v1/operations?key=k+1", None)),
    ("approvals", lambda g: g.approvals(state="denied"), ("GET", "/v1/approvals?state=denied", None)),
    (
        "approve",
        lambda g: g.decide("a", approve=True, note="n"),
        ("POST", "/v1/approvals/a/decision", {"decision": "approve", "note": "n"}),
    ),
    (
        "deny",
        lambda g: g.decide("a", approve=False),
        ("POST", "/v1/approvals/a/decision", {"decision": "deny"}),
    ),
    (
        "settle",
        lambda g: g.settle("o", SettledAs.NOT_EXECUTED, evidence="e", result=[1]),
        ("POST", "/v1/operations/o/settle", {"settled_as": "not_executed", "evidence": "e", "result": [1]}),
    ),
)


def by(face: str, url: str, ask: Asked) -> Any:
    """What one face answers; a program that blocks and one that awaits."""
    if face == "blocking":
        with Gateway(url, token="t").sync as blocking:
            return ask(blocking)

    async def awaiting() -> Any:
        async with Gateway(url, token="t") as gateway:
            return await ask(gateway)

    return asyncio.run(awaiting())


def told(seen: Seen) -> tuple[str, str, Any]:
    """A request, as far as it says something."""
    return seen.method, seen.path, seen.json if seen.body else None


faces = pytest.mark.parametrize("face", ["awaiting", "blocking"])


@faces
@pytest.mark.parametrize(("ask", "expected"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_what_was_given_is_what_is_asked(face: str, ask: Asked, expected: tuple[str, str, Any]) -> None:
    """Each parameter in its place, by either face."""
    with serving(wire.done({"operations": [], "approvals": []})) as server:
        by(face, server.url, ask)

    assert [told(seen) for seen in server.seen] == [expected]


@faces
def test_an_action_carries_its_run_its_step_and_any_other_field(face: str) -> None:
    """`carry_out` passes on what belongs to the call, to `prepare` and to the call."""
    more = {"tokens": 9, "approval_id": "apr-1", "repeat_of": "op-1", "idempotency_key": "mine", "timeout_s": 2.5}
    with serving(wire.prepared(), wire.done({})) as server:
        by(face, server.url, lambda g: g.carry_out("issue_refund", {"a": 1}, run_id="run-7", step=4, **more))

    assert [seen.path.rpartition("/")[2] for seen in server.seen] == ["prepare", "calls"]
    for seen in server.seen:
        assert seen.json["arguments"] == {"a": 1}
        assert seen.json["run"] == {"id": "run-7", "step": 4, "tokens": 9}
        assert (seen.json["approval_id"], seen.json["repeat_of"]) == ("apr-1", "op-1")
        assert (seen.headers["idempotency-key"], seen.headers["x-request-timeout-ms"]) == ("mine", "2500")


@faces
def test_an_action_is_sent_as_often_as_it_was_said(face: str) -> None:
    """`patience`, here of one send."""
    limited = wire.refused(ErrorCode.RATE_LIMITED, retry_after_s=0)
    with serving(wire.prepared(), limited) as server:
        by(face, server.url, lambda g: g.carry_out("issue_refund", {}, run_id="r", patience=Patience(sends=1)))

    assert len(server.seen) == 2


class Never(Chance):
    """Draws nothing of a wait, and counts."""

    def __init__(self) -> None:
        self.drawn = 0

    def draw(self) -> float:
        self.drawn += 1
        return 0.0

    def hex(self, digits: int) -> str:
        return "b" * digits


@faces
def test_waits_are_drawn_by_the_chance_that_was_given(face: str) -> None:
    """`Gateway(chance=…)` is that of its blocking face, too."""
    chance = Never()
    with serving(wire.prepared(), wire.page(503), wire.done({})) as server:
        gateway = Gateway(server.url, token="t", chance=chance)
        if face == "blocking":
            with gateway.sync as blocking:
                blocking.carry_out("issue_refund", {}, run_id="r")
        else:

            async def awaiting() -> None:
                async with gateway:
                    await gateway.carry_out("issue_refund", {}, run_id="r")

            asyncio.run(awaiting())

    assert chance.drawn == 1


def test_the_times_of_an_exchange_are_the_bounds() -> None:
    """`connect_s` for a connection and for a free place, `answer_s` for the rest; less where the call has less."""
    connection = Connection("http://h", "t", Bounds(connect_s=2, answer_s=7, grace_s=0.25))
    with httpx.Client() as client:
        long = connection.request(client, ASK, body=None).extensions["timeout"]
        short = connection.request(client, Ask(method="GET", path="/", wait_s=1), body=None).extensions["timeout"]

    assert long == {"connect": 2, "pool": 2, "read": 7, "write": 7}
    assert short == {"connect": 1.25, "pool": 1.25, "read": 1.25, "write": 1.25}


async def test_no_more_connections_than_that() -> None:
    """Another call waits for a free place, and then nothing of it was sent."""
    busy = Bounds(connect_s=0.05, answer_s=60, connections=1)
    with serving(Hang()) as server:
        patient = Connection(server.url, "t", Bounds(connect_s=30, answer_s=60))
        connection = Connection(server.url, "t", busy)
        settings: Any = connection.settings()
        async with httpx.AsyncClient(**settings) as client:
            first = asyncio.create_task(exchange(client, patient, ASK, None))
            await asyncio.to_thread(server.asked.wait, 30)
            assert await exchange(client, connection, ASK, None) is Silence.CONNECT_TIMEOUT
            first.cancel()

    assert len(server.seen) == 1


async def _told(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


@pytest.mark.parametrize("blocking", [False, True], ids=["awaiting", "blocking"])
async def test_a_certificate_is_trusted_where_it_was_said(blocking: bool) -> None:  # noqa: FBT001
    """`verify` replaces the machine's own; without it a private authority's server is nobody."""
    authority = trustme.CA()
    serves, trusts = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(serves)
    authority.configure_trust(trusts)
    async with await asyncio.start_server(_told, "127.0.0.1", 0, ssl=serves) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"

        async def heard(verify: ssl.SSLContext | None) -> Heard:
            connection = Connection(url, "t", Bounds(), verify=verify)
            settings: Any = connection.settings()
            if blocking:
                with httpx.Client(**settings) as waiting:
                    return await asyncio.to_thread(exchange_blocking, waiting, connection, SystemClock(), ASK, None)
            async with httpx.AsyncClient(**settings) as client:
                return await exchange(client, connection, ASK, None)

        assert await heard(None) is Silence.NO_CONNECTION
        assert isinstance(await heard(trusts), Answer)


@pytest.mark.parametrize("face", [Gateway, BlockingGateway])
def test_the_constructor_hands_all_of_it_on(face: type[Any]) -> None:
    """Certificates, proxy and bounds of a `Gateway` are those of the connection behind both faces."""
    trusts, bounds = ssl.create_default_context(), Bounds(connections=3)
    gateway = Gateway("http://h", token="t", bounds=bounds, verify=trusts, proxy="http://p:1")
    connection = gateway._connection if face is Gateway else gateway.sync._connection
    settings: Any = connection.settings()

    assert (settings["verify"], settings["proxy"], connection.bounds) == (trusts, "http://p:1", bounds)
    assert settings["limits"].max_connections == 3
    if face is BlockingGateway:
        gateway.sync.close()
