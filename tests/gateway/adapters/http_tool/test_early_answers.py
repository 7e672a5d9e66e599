"""Answers that come before the request has arrived, and those of peers that only read slowly."""

import asyncio
import socket
import threading

import pytest

from gateway.adapters.http_tool.connection import Connection
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.stages.execute.attempt.exchange import Phase
from tests.faults.raw_server import OK, REQUEST, RST, TLS, Peer, RawServer, Step, await_event, hold, part, send
from tests.gateway.adapters.http_tool.conftest import Certificates, Make, Serve, limits, request_to, told
from tests.waiting import eventually

SIZE = 300_000
HEAD, BODY = OK[:-2], OK[-2:]


def has_little_room(peer: Peer) -> None:
    """Most of a request stays with the gateway's kernel until it is read."""
    peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)


def reads_the_rest(peer: Peer) -> None:
    """All that comes, up to the end of the body."""
    peer.part(SIZE)


async def in_use(
    raw_server: Serve, make_transport: Make, certificates: Certificates, *steps: Step, secure: bool
) -> tuple[RawServer, HttpToolTransport, Connection]:
    """A connection that has carried a request, to a peer of this script; the kernel takes all of the next one."""
    tls = [TLS] if secure else []
    server = raw_server([has_little_room, *tls, REQUEST, send(OK), *steps], tls=certificates.server if secure else None)
    transport = make_transport(server, tls=certificates.trusting if secure else None)
    await transport.exchange(request_to(server), limits())
    (connection,) = transport._open
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)
    return server, transport, connection


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("then", [hold, RST])
async def test_an_answer_is_none_while_most_of_the_request_is_undelivered(
    raw_server: Serve, make_transport: Make, certificates: Certificates, then: Step, *, secure: bool
) -> None:
    """All of it is written, and lies with our own kernel: the peer cannot have known what it answers."""
    go = threading.Event()
    steps = (part(1), await_event(go), send(OK), then)
    server, transport, connection = await in_use(raw_server, make_transport, certificates, *steps, secure=secure)
    # A slow line, too, carries it within this time.
    bounds = limits(write_s=60.0, read_s=60.0, total_s=100.0, linger_reset=True)

    call = asyncio.create_task(transport.exchange(request_to(server, body=b"x" * SIZE), bounds))
    await eventually(lambda: connection.carried == 2 and connection.written)
    go.set()
    exchange = await call

    assert (told(exchange).split(" ", 1)[1], exchange.answer, exchange.written) == ("[sent] reused", None, True)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("end", [send(BODY), RST])
async def test_what_follows_a_head_that_came_too_early_does_not_mend_it(
    raw_server: Serve, make_transport: Make, certificates: Certificates, end: Step, *, secure: bool
) -> None:
    """It promised success before it knew of what, so its end proves none, also when all was read meanwhile."""
    heard = threading.Event()
    steps = (part(1), send(HEAD), await_event(heard), reads_the_rest, end, hold)
    server, transport, connection = await in_use(raw_server, make_transport, certificates, *steps, secure=secure)
    bounds = limits(write_s=60.0, read_s=60.0, total_s=100.0, linger_reset=True)

    call = asyncio.create_task(transport.exchange(request_to(server, body=b"x" * SIZE), bounds))
    await eventually(lambda: connection._reader is not None and connection._reader.phase >= Phase.HEADERS)
    heard.set()
    exchange = await call

    assert (exchange.phase, exchange.answer) == (Phase.SENT, None)


@pytest.mark.parametrize("secure", [False, True])
async def test_whoever_has_read_all_is_believed_however_slowly_it_did(
    raw_server: Serve, make_transport: Make, certificates: Certificates, *, secure: bool
) -> None:
    """Its answer acknowledges what it has read."""
    steps = [REQUEST, send(OK)] * 9
    server, transport, _ = await in_use(raw_server, make_transport, certificates, *steps, secure=secure)
    for size in (4_096, 4_097, 30_000) * 3:
        bounds = limits(write_s=60.0, read_s=60.0, total_s=100.0, linger_reset=True)
        exchange = await transport.exchange(request_to(server, body=b"x" * size), bounds)
        assert (told(exchange), exchange.written) == ("200 2B [complete] reused", True)
