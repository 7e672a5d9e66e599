"""From an origin to a connection, or to the reason why there is none. Nothing here was ever sent."""

import asyncio
import contextlib
import gc
import socket
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest

from gateway.adapters.http_tool.dialling import system_tls
from gateway.adapters.http_tool.progress import Failed, Trail
from gateway.stages.execute.attempt.exchange import Exchange, Phase
from tests.faults.raw_server import (
    FIN,
    OK,
    REQUEST,
    RST,
    TLS,
    Peer,
    Script,
    hold,
    listen,
    part,
    pause,
    raw,
    send,
    serve,
)
from tests.gateway.adapters.http_tool.conftest import Certificates, Make, Serve, limits, request_to, settled, told
from tests.waiting import eventually, turns

CLEAN, KEPT = "0 active, 0 idle, 0 waiting", "0 active, 1 idle, 0 waiting"
OPEN_END = b"HTTP/1.1 200 OK\r\n\r\n1234567"
HALF_BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"


@pytest.fixture
async def black_hole() -> AsyncIterator[str]:
    """A port whose handshakes get no answer: its backlog is full."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        host_port = f"127.0.0.1:{listener.getsockname()[1]}"
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield host_port


def refusing() -> str:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


async def test_a_refused_connection_is_told_at_once(make_transport: Make) -> None:
    """CONNECTING is as far as it came."""
    transport = make_transport(host_port := refusing())

    exchange = await transport.exchange(request_to(f"http://{host_port}"), limits())

    assert (told(exchange), exchange.written) == ("connect_failed [connecting]", False)
    assert isinstance(exchange.cause, ConnectionRefusedError)
    assert await settled(transport) == CLEAN


@pytest.mark.parametrize("times", [{"total_s": 60.0, "connect_s": 0.05}, {"total_s": 0.05, "connect_s": 60.0}])
async def test_a_failure_leaves_nothing_for_the_garbage_collector(
    make_transport: Make, black_hole: str, times: dict[str, float]
) -> None:
    """Neither one in time nor one at the deadline holds itself, by its frames, its cause or its task."""

    def kept() -> int:
        return sum(isinstance(it, Exchange | Failed) for it in gc.get_objects())

    transport = make_transport(black_hole)
    gc.collect()
    gc.disable()
    try:
        before = kept()
        for host_port in (black_hole, refusing()):
            task = asyncio.create_task(transport.exchange(request_to(f"http://{host_port}"), limits(**times)))
            assert (await task).fault is not None
            del task
        # The loop holds what it woke this test with until the test waits again.
        await turns()
        assert kept() == before
    finally:
        gc.enable()


async def test_a_handshake_without_an_answer_ends_in_time(make_transport: Make, black_hole: str) -> None:
    """`connect_s` bounds it."""
    transport = make_transport(black_hole)

    exchange = await transport.exchange(request_to(f"http://{black_hole}"), limits(total_s=60.0, connect_s=0.1))

    assert told(exchange) == "connect_timeout [connecting]"
    assert 0.1 <= exchange.elapsed_s < 30
    assert await settled(transport) == CLEAN


@pytest.mark.parametrize("bound", ["send_deadline", "ends_at"])
async def test_the_deadline_ends_a_connection_under_way(make_transport: Make, black_hole: str, bound: str) -> None:
    """And is called by its own name."""
    exchange = await make_transport(black_hole).exchange(
        request_to(f"http://{black_hole}"), limits(**{bound: time.monotonic() + 0.1})
    )

    assert told(exchange) == "deadline [connecting]"


async def test_a_caller_who_leaves_while_we_connect_leaves_nothing(make_transport: Make, black_hole: str) -> None:
    """No slot, no socket."""
    transport = make_transport(black_hole)
    trail = Trail()
    call = asyncio.create_task(transport.exchange(request_to(f"http://{black_hole}"), limits(), trail=trail))
    await eventually(lambda: trail.phase is Phase.CONNECTING)

    call.cancel()
    await asyncio.gather(call, return_exceptions=True)

    assert (call.cancelled(), await settled(transport)) == (True, CLEAN)


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"], ["10.0.0.1", "::1"]])
async def test_no_address_is_connected_to_that_is_not_allowed(
    raw_server: Serve, make_transport: Make, caplog: pytest.LogCaptureFixture, addresses: list[str]
) -> None:
    """Whatever the name looks like, its addresses are what is checked; the log says who was refused."""
    server = raw_server([serve()])

    async def lookup(host: str) -> Sequence[str]:
        assert host == "pay.example"
        return addresses

    exchange = await make_transport(lookup=lookup).exchange(request_to(f"http://pay.example:{server.port}"), limits())

    assert (told(exchange), server.connections) == ("egress_refused [connecting]", 0)
    assert f"egress refused pay.example port {server.port}: its address is not public; " in caplog.text
    opens = addresses != ["169.254.169.254"]
    assert (f"--allow-private pay.example:{server.port}" in caplog.text) is opens


async def test_an_operator_can_open_a_private_host(raw_server: Serve, make_transport: Make) -> None:
    """By name and port; the Host header keeps the name."""
    server = raw_server([serve()])

    async def lookup(_: str) -> Sequence[str]:
        return ["127.0.0.1"]

    name = f"pay.internal:{server.port}"
    exchange = await make_transport(name, lookup=lookup).exchange(request_to(f"http://{name}"), limits())

    assert told(exchange) == "200 2B [complete]"
    assert server.requests[0].header("host") == name


async def test_a_name_without_an_address_is_told(make_transport: Make) -> None:
    """DNS failing is no proof of anything but that nothing was sent."""

    async def lookup(_: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    exchange = await make_transport(lookup=lookup).exchange(request_to("http://nowhere.example"), limits())

    assert told(exchange) == "dns_failed [connecting]"


async def test_a_slow_resolver_counts_against_the_connect_time(make_transport: Make) -> None:
    """Asking for the address is part of connecting."""

    async def lookup(_: str) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    exchange = await make_transport(lookup=lookup).exchange(request_to("http://slow.example"), limits(connect_s=0.05))

    assert told(exchange) == "connect_timeout [connecting]"


@pytest.mark.parametrize("first", ["refused", "silent"])
async def test_the_next_address_is_tried_when_one_does_not_connect(
    raw_server: Serve, make_transport: Make, first: str
) -> None:
    """At once after a refusal, beside it after a quarter of a second of silence."""
    server = raw_server([serve()], [serve()], [serve()], [serve()])
    # Nothing listens on 127.0.0.2; 127.0.0.3 has a listener whose backlog is full.
    with contextlib.ExitStack() as stack:
        if first == "silent":
            silent = stack.enter_context(socket.create_server(("127.0.0.3", server.port), backlog=0))
            for _ in range(4):
                filler = stack.enter_context(socket.socket())
                filler.setblocking(False)
                filler.connect_ex(silent.getsockname())

        async def lookup(_: str) -> Sequence[str]:
            return ["127.0.0.2" if first == "refused" else "127.0.0.3", "127.0.0.1"]

        name = f"pay.internal:{server.port}"
        took_s = []
        # Of several, the quickest tells what is waited for: the machine may be slow once.
        for _ in range(4):
            transport = make_transport(name, lookup=lookup)
            exchange = await transport.exchange(request_to(f"http://{name}"), limits())
            assert told(exchange) == "200 2B [complete]"
            took_s.append(exchange.elapsed_s)

    assert (min(took_s) >= 0.25) == (first == "silent")
    assert await settled(transport) == KEPT


async def test_the_last_refusal_is_told_when_all_refuse(make_transport: Make) -> None:
    """There is no address left to try."""
    host_port = refusing()

    async def lookup(_: str) -> Sequence[str]:
        return ["127.0.0.1", "127.0.0.2", "127.0.0.3"]

    name = f"pay.internal:{host_port.rpartition(':')[2]}"
    exchange = await make_transport(name, lookup=lookup).exchange(request_to(f"http://{name}"), limits())

    assert told(exchange) == "connect_failed [connecting]"


def refuse_after_the_request(peer: Peer) -> None:
    """Let the client finish its handshake and write 3,000 bytes more before looking at its certificate."""
    assert peer.server.tls is not None
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = peer.server.tls.wrap_bio(incoming, outgoing, server_side=True)
    incoming.write(peer.sock.recv(65_536))
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    peer.send(outgoing.read())
    incoming.write(peer.part(3_000))
    with contextlib.suppress(ssl.SSLError):
        tls.do_handshake()
    peer.send(outgoing.read())


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsCase:
    script: Script
    told: tuple[str, ...]
    arrived: int = 1
    pool: str = CLEAN
    serving: str = "server"
    calling: str | None = "trusting"
    connect_s: float = 2.0
    write_s: float = 2.0
    body: bytes = b"{}"


TLS_CASES = {
    "ok twice": TlsCase(
        script=[TLS, serve()], told=("200 2B [complete]", "200 2B [complete] reused"), arrived=2, pool=KEPT
    ),
    "large body": TlsCase(script=[TLS, serve()], told=("200 2B [complete]",), body=b"x" * 5_000_000, pool=KEPT),
    "plaintext peer": TlsCase(
        script=[send(b"HTTP/1.1 400 Bad Request\r\n\r\n"), listen], told=("tls_failed [connecting]",), arrived=0
    ),
    "stall": TlsCase(script=[hold], told=("tls_timeout [connecting]",), arrived=0, connect_s=0.15),
    "close in handshake": TlsCase(script=[part(1), FIN], told=("tls_failed [connecting]",), arrived=0),
    "reset in handshake": TlsCase(script=[part(1), RST], told=("tls_failed [connecting]",), arrived=0),
    "unknown authority": TlsCase(script=[TLS, listen], told=("tls_untrusted [connecting]",), arrived=0, calling=None),
    "wrong name": TlsCase(script=[TLS, listen], told=("tls_untrusted [connecting]",), arrived=0, serving="wrong_name"),
    "client certificate shown": TlsCase(
        script=[TLS, serve()], told=("200 2B [complete]",), serving="strict", calling="known", pool=KEPT
    ),
    "garbage after request": TlsCase(script=[TLS, REQUEST, raw, send(b"\x00junk" * 9), hold], told=("reset [sent]",)),
    "peer does not read": TlsCase(
        script=[TLS, hold], told=("write_timeout [sent]",), arrived=0, body=b"x" * 20_000_000, write_s=0.2
    ),
    "half body, close_notify": TlsCase(
        script=[TLS, REQUEST, send(HALF_BODY), FIN], told=("200 5B disconnected [body]",)
    ),
    "half body, RST": TlsCase(
        script=[TLS, REQUEST, send(HALF_BODY), pause(0.05), raw, RST], told=("200 5B reset [body]",)
    ),
    "close-delimited, close_notify": TlsCase(
        script=[TLS, REQUEST, send(OPEN_END), FIN], told=("200 7B close-delimited [body]",)
    ),
    "close-delimited, cut without close_notify": TlsCase(
        script=[TLS, REQUEST, send(OPEN_END), raw, FIN], told=("200 7B close-delimited [body]",)
    ),
    "junk after the answer": TlsCase(script=[TLS, REQUEST, send(OK + b"junk"), hold], told=("200 2B [complete]",)),
}


@pytest.mark.parametrize("name", TLS_CASES)
async def test_every_way_for_tls_to_end_is_told_as_it_was(
    raw_server: Serve, make_transport: Make, certificates: Certificates, name: str
) -> None:
    """Before SENT nothing was sent; after it TLS errors prove nothing; no slot is lost."""
    case = TLS_CASES[name]
    server = raw_server(case.script, tls=getattr(certificates, case.serving))
    transport = make_transport(server, tls=getattr(certificates, case.calling) if case.calling else None)

    lines = [
        told(
            await transport.exchange(
                request_to(server, body=case.body), limits(connect_s=case.connect_s, write_s=case.write_s)
            )
        )
        for _ in case.told
    ]

    assert tuple(lines) == case.told
    await server.wait_for(lambda server: server.arrived == case.arrived)
    assert await settled(transport) == case.pool


async def test_a_missing_client_certificate_is_never_taken_for_an_answer(
    raw_server: Serve, make_transport: Make, certificates: Certificates
) -> None:
    """TLS 1.3 refuses it behind the handshake: its alert comes before our first byte, after it, or not at all."""
    server = raw_server([TLS, listen], tls=certificates.strict)
    transport = make_transport(server, tls=certificates.trusting)

    line = told(await transport.exchange(request_to(server), limits()))

    assert line in {"connection_lost [connected]", "tls_client_refused [sent]", "reset [sent]"}
    assert (server.arrived, await settled(transport)) == (0, CLEAN)


async def test_a_client_certificate_refused_after_the_request_is_told_as_such(
    raw_server: Serve, make_transport: Make, certificates: Certificates
) -> None:
    """When the alert is read, the operator gets a hint."""
    server = raw_server([refuse_after_the_request, listen], tls=certificates.strict)
    transport = make_transport(server, tls=certificates.trusting)

    exchange = await transport.exchange(request_to(server, body=b"x" * 3_000), limits())

    assert (told(exchange), exchange.written) == ("tls_client_refused [sent]", True)
    assert await settled(transport) == CLEAN


async def test_a_deadline_inside_the_handshake_is_the_deadlines(
    raw_server: Serve, make_transport: Make, certificates: Certificates
) -> None:
    """Not TLS's fault."""
    server = raw_server([hold], tls=certificates.server)

    exchange = await make_transport(server, tls=certificates.trusting).exchange(
        request_to(server), limits(send_deadline=time.monotonic() + 0.1)
    )

    assert told(exchange) == "deadline [connecting]"


async def test_the_certificate_must_be_for_the_urls_name(
    raw_server: Serve, make_transport: Make, certificates: Certificates
) -> None:
    """What is verified is the name, although what is connected to is an address."""
    server = raw_server([TLS, serve()], tls=certificates.wrong_name)

    async def lookup(_: str) -> Sequence[str]:
        return ["127.0.0.1"]

    name = f"elsewhere.example:{server.port}"
    exchange = await make_transport(name, lookup=lookup, tls=certificates.trusting).exchange(
        request_to(f"https://{name}"), limits()
    )

    assert told(exchange) == "200 2B [complete]"


def test_the_systems_trust_store_is_the_default() -> None:
    """Certificates and names are verified."""
    context = system_tls()

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
