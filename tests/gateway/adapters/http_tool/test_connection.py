"""One socket between and during exchanges."""

import asyncio
import select
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable

import pytest

from gateway.adapters.http_tool import kernel
from gateway.adapters.http_tool.connection import Connection
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.system.clock import SystemClock
from gateway.stages.execute.attempt.exchange import Fault
from tests.faults.raw_server import (
    FIN,
    OK,
    REQUEST,
    RST,
    TLS,
    Peer,
    RawServer,
    Step,
    await_event,
    hold,
    listen,
    send,
    serve,
)
from tests.gateway.adapters.http_tool.conftest import (
    Certificates,
    Make,
    Serve,
    limits,
    pools,
    request_to,
    settled,
    told,
)
from tests.waiting import turns

CLEAN, KEPT = "0 active, 0 idle, 0 waiting", "0 active, 1 idle, 0 waiting"


def only(transport: HttpToolTransport) -> Connection:
    (connection,) = transport._open
    return connection


async def happened(server: RawServer) -> None:
    """Let the loop hear what the first connection's script did at its end."""
    await server.all_scripts_ended()


def ended_behind_the_loops_back(server: RawServer) -> None:
    """The same while the loop is busy: it hears nothing, only the kernel knows."""
    with server._changed:
        assert server._changed.wait_for(lambda: server._state.ended == 1, 5.0)


@pytest.mark.parametrize(
    ("last_words", "surplus"),
    [(FIN, 0), (RST, 0), (send(b"HTTP/1.1 408 Request Timeout\r\n\r\n"), 1), (send(OK), 1)],
)
@pytest.mark.parametrize("busy", [False, True])
async def test_what_happens_to_an_idle_connection_never_touches_the_next_call(
    raw_server: Serve,
    make_transport: Make,
    caplog: pytest.LogCaptureFixture,
    last_words: Step,
    surplus: int,
    *,
    busy: bool,
) -> None:
    """It closed, broke, or said something nobody asked for, which is logged: the next call opens another."""
    go = threading.Event()
    server = raw_server([REQUEST, send(OK), await_event(go), last_words], [serve(OK.replace(b"{}", b"[]"))])
    transport = make_transport(server)
    assert told(await transport.exchange(request_to(server), limits())) == "200 2B [complete]"

    go.set()
    if busy:
        ended_behind_the_loops_back(server)
    else:
        await happened(server)
    exchange = await transport.exchange(request_to(server), limits())

    assert told(exchange) == "200 2B [complete]"
    assert exchange.answer is not None
    assert exchange.answer.body == b"[]"
    assert await settled(transport) == KEPT
    said = [it.getMessage() for it in caplog.records if "nobody asked for" in it.message]
    assert [it.startswith(f"http://127.0.0.1:{server.port} sent") for it in said] == [True] * surplus


async def test_what_comes_behind_an_answer_is_logged(
    raw_server: Serve, make_transport: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """In the same piece as the answer, which counts; a line end is let pass."""
    server = raw_server([serve(OK + OK)], [serve(OK + b"junk")], [serve(OK + b"\r\n")])
    transport = make_transport(server)
    for lines in (1, 2, 2):
        assert told(await transport.exchange(request_to(server), limits())) == "200 2B [complete]"
        assert len([it for it in caplog.records if "nobody asked for" in it.message]) == lines


async def test_an_idle_connection_that_dies_leaves_the_pool(raw_server: Serve, make_transport: Make) -> None:
    """Without a call to notice it."""
    go = threading.Event()
    server = raw_server([REQUEST, send(OK), await_event(go), FIN])
    transport = make_transport(server)
    await transport.exchange(request_to(server), limits())
    connection = only(transport)

    go.set()
    await connection.lost

    assert pools(transport) == CLEAN


async def test_a_write_resets_on_close_and_a_read_does_not(raw_server: Serve, make_transport: Make) -> None:
    """The socket is tuned for each exchange, also when it is used again."""
    server = raw_server([serve()])
    transport = make_transport(server)

    def tuning() -> tuple[tuple[int, int], int]:
        sock = only(transport).sock
        linger = struct.unpack("ii", sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))
        return (linger[0], linger[1]), sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    await transport.exchange(request_to(server), limits())
    assert tuning() == ((0, 0), 0)
    await transport.exchange(request_to(server), limits(linger_reset=True, total_s=30.0))
    linger, patience_ms = tuning()
    assert (linger, 29_000 < patience_ms <= 30_000) == ((1, 0), True)
    await transport.exchange(request_to(server), limits())
    assert tuning() == ((0, 0), 0)
    assert server.connections == 1


@pytest.mark.parametrize(("linger_reset", "seen"), [(True, "reset"), (False, "closed")])
async def test_the_end_of_listening_is_a_reset(
    raw_server: Serve, make_transport: Make, seen: str, *, linger_reset: bool
) -> None:
    """So that bytes still in the kernel do not arrive after we have given up."""
    server = raw_server([REQUEST, listen])
    transport = make_transport(server)

    exchange = await transport.exchange(request_to(server), limits(read_s=None, total_s=0.1, linger_reset=linger_reset))
    await server.all_scripts_ended()

    assert (told(exchange), server.events) == ("read_timeout [sent]", [seen])


async def test_the_first_cause_is_the_one_that_is_told(raw_server: Serve, make_transport: Make) -> None:
    """Our own abort after a timeout ends in a lost connection, and is not told as one."""
    server = raw_server([REQUEST, hold])
    transport = make_transport(server)

    exchange = await transport.exchange(request_to(server), limits(read_s=0.05))
    await settled(transport)

    assert (exchange.fault, exchange.detail) == (Fault.READ_TIMEOUT, "no more of the answer came in time")


class HandClock(SystemClock):
    """Stands where it is put: a busy machine changes nothing."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def monotonic(self) -> float:
        return self.now


async def test_a_peer_that_reads_slowly_is_not_one_that_does_not_read(raw_server: Serve, make_transport: Make) -> None:
    """`write_s` bounds the silence between slices, not the whole of them."""
    clock = HandClock()
    began = clock.now

    def sip(peer: Peer) -> None:
        for _ in range(5):
            # More than the kernels hold between us: some of it was written after the clock was last moved.
            peer.part(1_000_000)
            clock.now += 0.04
        # Timers ring by the machine's time, which has to be where the clock is for one that does not move to show.
        peer.pause(max(0.0, clock.now + 0.05 - time.monotonic()))
        rest = b""
        while not rest.endswith(b"the end"):
            rest = rest[-7:] + peer._some()

    server = raw_server([REQUEST, send(OK), sip, send(OK), hold])
    transport = make_transport(server, clock=clock)
    await transport.exchange(request_to(server), limits())
    only(transport).sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)

    exchange = await transport.exchange(request_to(server, body=b"x" * 10_000_000 + b"the end"), limits(write_s=0.05))

    assert told(exchange) == "200 2B [complete] reused"
    assert exchange.elapsed_s == clock.now - began > 0.05


async def test_a_write_is_bounded_by_the_end_of_the_attempt(raw_server: Serve, make_transport: Make) -> None:
    """However generous `write_s` is."""
    clock = HandClock()

    def stop_reading(peer: Peer) -> None:
        peer.part(1)
        clock.now += 60.0
        hold(peer)

    server = raw_server([REQUEST, send(OK), stop_reading])
    transport = make_transport(server, clock=clock)
    await transport.exchange(request_to(server), limits())

    exchange = await transport.exchange(request_to(server, body=b"x" * 20_000_000), limits(write_s=3600.0, total_s=0.1))

    assert told(exchange) == "write_timeout [sent] reused"
    assert exchange.elapsed_s == 60.0


async def test_no_whole_request_leaves_after_the_end_of_the_attempt(raw_server: Serve, make_transport: Make) -> None:
    """A process that was stopped goes on with what is to be written before its timers ring; another may have acted meanwhile."""
    clock, read = HandClock(), list[int]()

    def reads_on(peer: Peer) -> None:
        peer.part(1)
        # The loop's own timer is far away: nothing but the clock says that the time is over.
        clock.now += 60.0
        while True:
            read.append(len(peer._some()))

    server = raw_server([REQUEST, send(OK), reads_on])
    transport = make_transport(server, clock=clock)
    await transport.exchange(request_to(server), limits())
    only(transport).sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)

    exchange = await transport.exchange(
        request_to(server, body=b"x" * 20_000_000), limits(write_s=3600.0, total_s=50.0)
    )
    await server.all_scripts_ended()

    assert told(exchange) == "write_timeout [sent] reused"
    assert not exchange.written
    assert sum(read) < 20_000_000 - 65_536


# The kernel is asked once more when the answer comes. The attempt has 50 s, in which the slowest line carries 204,800 bytes: with the 256 that are held back, 204,544 before them.
# Some bytes more or less, for what the clocks differ by between two questions.
@pytest.mark.parametrize(
    ("undelivered", "outcome"),
    [
        ([204_500, 0], "200 2B [complete] reused"),
        ([204_600, 204_600, 0, 0], "200 2B [complete] reused"),
        ([204_600] * 9, "write_timeout [sent] reused"),
    ],
)
async def test_the_last_bytes_wait_until_all_before_them_arrive_in_time(
    raw_server: Serve, make_transport: Make, monkeypatch: pytest.MonkeyPatch, undelivered: list[int], outcome: str
) -> None:
    """As long as they would not, these are not written, and not at all after the end of the attempt."""
    clock, asked = HandClock(), iter(undelivered)

    def told_by_the_kernel(_: socket.socket) -> int:
        left = next(asked, None)
        clock.now += 60.0 if left is None else 0.0
        return 1_000_000 if left is None else left

    monkeypatch.setattr(kernel, "undelivered", told_by_the_kernel)
    server = raw_server([REQUEST, send(OK), REQUEST, send(OK), hold])
    transport = make_transport(server, clock=clock)
    await transport.exchange(request_to(server), limits())

    exchange = await transport.exchange(
        request_to(server, body=b"x" * 5_000), limits(write_s=3600.0, ends_at=clock.now + 50.0)
    )

    assert told(exchange) == outcome
    assert next(asked, None) is None


async def test_time_in_which_the_machine_is_suspended_counts(
    raw_server: Serve, make_transport: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No timer and no monotonic clock sees it, and another gateway acts meanwhile."""
    suspended_s, asked = 0.0, 0

    def told_by_the_kernel(_: socket.socket) -> int:
        nonlocal suspended_s, asked
        asked += 1
        suspended_s = 60.0 if asked == 3 else 0.0
        return 1_000_000

    monkeypatch.setattr(kernel, "undelivered", told_by_the_kernel)
    monkeypatch.setattr(kernel, "suspended_s", lambda: suspended_s)
    server = raw_server([REQUEST, send(OK), hold])
    transport = make_transport(server)
    await transport.exchange(request_to(server), limits())

    exchange = await transport.exchange(request_to(server, body=b"x" * 5_000), limits(write_s=3600.0, total_s=50.0))

    assert (told(exchange), exchange.written, asked) == ("write_timeout [sent] reused", False, 3)


@pytest.mark.parametrize("secure", [False, True])
async def test_no_kernel_is_given_a_whole_request_that_it_cannot_deliver(
    raw_server: Serve, make_transport: Make, certificates: Certificates, *, secure: bool
) -> None:
    """It sends on what it has, also while the process is stopped, until long after the end of the attempt."""
    clock, read, size = HandClock(), list[int](), 300_000

    def reads_late(peer: Peer) -> None:
        read.append(len(peer.part(1)))
        clock.now += 60.0
        while True:
            read.append(len(peer._some()))

    def has_little_room(peer: Peer) -> None:
        peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)

    script = [REQUEST, send(OK), reads_late]
    tls = certificates.server if secure else None
    server = raw_server([has_little_room, *([TLS] if secure else []), *script], tls=tls)
    transport = make_transport(server, clock=clock, tls=certificates.trusting if secure else None)
    await transport.exchange(request_to(server), limits())
    # It takes all of the request, most of which the peer has no room for.
    only(transport).sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_000_000)

    exchange = await transport.exchange(
        request_to(server, body=b"x" * size), limits(write_s=3600.0, total_s=10.0, linger_reset=True)
    )
    await server.all_scripts_ended()

    assert told(exchange) == "write_timeout [sent] reused"
    assert not exchange.written
    assert sum(read) < size


async def test_what_lies_beneath_tls_is_asked_too(
    raw_server: Serve, make_transport: Make, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel has delivered all that it was given, and TLS has handed on all that it had: the rest is between them."""
    clock, read, size = HandClock(), list[int](), 60_000

    def has_little_room(peer: Peer) -> None:
        peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)

    def reads_late(peer: Peer) -> None:
        read.append(len(peer.part(1)))
        clock.now += 60.0
        while True:
            read.append(len(peer._some()))

    monkeypatch.setattr(kernel, "undelivered", lambda _: 0)
    server = raw_server([has_little_room, TLS, REQUEST, send(OK), reads_late], tls=certificates.server)
    transport = make_transport(server, clock=clock, tls=certificates.trusting)
    await transport.exchange(request_to(server), limits())
    only(transport).sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8_192)

    exchange = await transport.exchange(
        request_to(server, body=b"x" * size), limits(write_s=3600.0, total_s=10.0, linger_reset=True)
    )
    await server.all_scripts_ended()

    assert (told(exchange), exchange.written) == ("write_timeout [sent] reused", False)
    assert sum(read) < size


def _reset(transport: HttpToolTransport) -> Awaitable[None]:
    transport.reset()
    return turns()


@pytest.mark.parametrize("stop", [_reset, HttpToolTransport.aclose])
async def test_a_shutdown_ends_what_runs(
    raw_server: Serve, make_transport: Make, stop: Callable[[HttpToolTransport], Awaitable[None]]
) -> None:
    """As ABORTED, in the phase it had reached."""
    server = raw_server([serve(), hold], [REQUEST, hold])
    transport = make_transport(server)
    running = asyncio.create_task(transport.exchange(request_to(server, method="PUT"), limits()))
    await running
    running = asyncio.create_task(transport.exchange(request_to(server), limits(fresh_connection=True)))
    await server.wait_for(lambda server: server.arrived == 2)

    await stop(transport)

    assert told(await running) == "aborted [sent]"
    assert await settled(transport) == CLEAN


async def test_after_a_reset_calls_go_on_and_after_a_close_they_do_not(raw_server: Serve, make_transport: Make) -> None:
    """A close is for good."""
    server = raw_server([serve()])
    transport = make_transport(server)
    await transport.exchange(request_to(server), limits())

    transport.reset()
    assert told(await transport.exchange(request_to(server), limits())) == "200 2B [complete]"
    await transport.aclose()
    assert told(await transport.exchange(request_to(server), limits())) == "aborted [none]"
    assert transport._open == set()


async def test_a_young_tls_connection_may_have_tickets_to_read(
    raw_server: Serve, make_transport: Make, certificates: Certificates
) -> None:
    """Bytes in the kernel right after a handshake are no reason to doubt it; later they are."""
    server = raw_server([TLS, serve()], tls=certificates.server)
    transport = make_transport(server, tls=certificates.trusting)

    async def gate() -> None:
        (connection,) = transport._open
        if connection.carried == 0:
            # The loop stands still meanwhile, or would read them: it may have done so before, then none are left.
            select.select([connection.sock], [], [], 0.1)

    lines = [told(await transport.exchange(request_to(server), limits(), gate)) for _ in range(3)]

    assert lines == ["200 2B [complete]", "200 2B [complete] reused", "200 2B [complete] reused"]
