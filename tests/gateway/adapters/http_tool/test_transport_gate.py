"""The gate: the last moment at which nothing has been sent."""

import asyncio
import time
from typing import Any

import pytest

from gateway.adapters.http_tool.progress import Failed, Trail
from gateway.adapters.http_tool.transport import ask
from gateway.stages.execute.attempt.exchange import Fault, Phase
from tests.clocks import AheadClock
from tests.faults.raw_server import FIN, OK, REQUEST, part, send, serve
from tests.gateway.adapters.http_tool.conftest import Make, Serve, limits, pools, request_to, settled, told
from tests.waiting import turns

KEPT, CLEAN = "0 active, 1 idle, 0 waiting", "0 active, 0 idle, 0 waiting"


class LeaseLostError(Exception):
    pass


async def test_the_gate_is_asked_when_the_connection_is_in_hand(raw_server: Serve, make_transport: Make) -> None:
    """Connected, and not a byte written."""
    server = raw_server([serve()])
    trail = Trail()
    seen: list[tuple[Phase, int]] = []

    async def gate() -> None:
        seen.append((trail.phase, server.arrived))

    exchange = await make_transport(server).exchange(request_to(server), limits(), gate, trail=trail)

    assert seen == [(Phase.CONNECTED, 0)]
    assert (told(exchange), trail.phase) == ("200 2B [complete]", Phase.COMPLETE)


async def test_what_the_gate_raises_stops_the_send_and_can_be_read(raw_server: Serve, make_transport: Make) -> None:
    """Nothing arrives, the connection is kept, the exception is the caller's."""
    server = raw_server([serve()])
    transport = make_transport(server)
    lost = LeaseLostError("the lease was lost")

    async def gate() -> None:
        raise lost

    exchange = await transport.exchange(request_to(server), limits(), gate)

    assert (told(exchange), exchange.cause, exchange.written) == ("gate_refused [connected]", lost, False)
    assert (server.arrived, pools(transport)) == (0, KEPT)


async def test_a_fault_of_our_own_can_be_read_and_gives_the_connection_back(
    raw_server: Serve, make_transport: Make
) -> None:
    """Nothing but cancellation escapes: what it was is for the log, and how far it came is still told."""
    server = raw_server([serve()])
    transport = make_transport(server)

    async def gate() -> Any:
        return "soon"

    exchange = await transport.exchange(request_to(server), limits(), gate)

    assert (told(exchange), exchange.detail) == ("internal [connected]", "the transport failed: TypeError")
    assert isinstance(exchange.cause, TypeError)
    assert exchange.cause.__traceback__ is not None
    assert (server.arrived, pools(transport)) == (0, KEPT)


async def test_a_gate_that_raises_at_once_refuses_too(raw_server: Serve, make_transport: Make) -> None:
    """Before there is anything to await."""
    server = raw_server([serve()])

    def gate() -> asyncio.Future[float | None]:
        raise LeaseLostError

    exchange = await make_transport(server).exchange(request_to(server), limits(), gate)

    assert (told(exchange), type(exchange.cause)) == ("gate_refused [connected]", LeaseLostError)


async def test_a_gate_that_was_cancelled_itself_refuses(raw_server: Serve, make_transport: Make) -> None:
    """Its own cancellation is no cancellation of ours."""
    server = raw_server([serve()])

    async def gate() -> None:
        raise asyncio.CancelledError

    exchange = await make_transport(server).exchange(request_to(server), limits(), gate)

    assert told(exchange) == "gate_refused [connected]"


@pytest.mark.parametrize("early_s", [0.0, 10.0])
async def test_a_send_by_that_has_passed_sends_nothing(raw_server: Serve, make_transport: Make, early_s: float) -> None:
    """The moment is compared with the clock in the step that would write; the connection goes back."""
    server = raw_server([serve()])
    transport = make_transport(server)

    async def gate() -> float:
        return time.monotonic() - early_s

    exchange = await transport.exchange(request_to(server), limits(), gate)

    assert (told(exchange), exchange.written) == ("deadline [connected]", False)
    assert (server.arrived, pools(transport)) == (0, KEPT)


async def test_a_send_by_to_come_bounds_nothing_else(raw_server: Serve, make_transport: Make) -> None:
    """It is about the first byte, not about the answer."""
    server = raw_server([serve()])

    async def gate() -> float:
        return time.monotonic() + 1.0

    assert told(await make_transport(server).exchange(request_to(server), limits(), gate)) == "200 2B [complete]"


@pytest.mark.parametrize(("sends_within_s", "total_s"), [(30, 7_200), (7_200, 30)])
async def test_the_deadline_can_pass_inside_the_gate(
    raw_server: Serve, make_transport: Make, sends_within_s: float, total_s: float
) -> None:
    """The gate runs to its end; then nothing is sent."""
    server = raw_server([serve()])
    clock = AheadClock()
    transport = make_transport(server, clock=clock)
    ran: list[str] = []

    async def gate() -> None:
        clock.ahead_s += 3600
        await turns()
        ran.append("to its end")

    exchange = await transport.exchange(
        request_to(server), limits(total_s=total_s, send_deadline=time.monotonic() + sends_within_s), gate
    )

    assert (told(exchange), ran) == ("deadline [connected]", ["to its end"])
    assert (server.arrived, pools(transport)) == (0, KEPT)


@pytest.mark.parametrize("last_words", [FIN, send(OK)])
async def test_a_connection_can_die_inside_the_gate(
    raw_server: Serve, make_transport: Make, last_words: object
) -> None:
    """A close, or an answer to nothing: either way nothing was sent and the connection is gone."""
    server = raw_server([last_words])
    transport = make_transport(server)

    exchange = await transport.exchange(request_to(server), limits(), server.all_scripts_ended)

    assert told(exchange) == "connection_lost [connected]"
    assert await settled(transport) == CLEAN


async def test_a_dead_connection_is_noticed_although_the_loop_is_busy(raw_server: Serve, make_transport: Make) -> None:
    """The kernel is asked in the step that would write, since the loop may not have heard yet."""
    server = raw_server([FIN])
    transport = make_transport(server)

    async def gate() -> None:
        with server._changed:
            server._changed.wait_for(lambda: server._state.ended == 1, 5.0)

    assert told(await transport.exchange(request_to(server), limits(), gate)) == "connection_lost [connected]"


async def test_a_gate_once_begun_is_never_cancelled(raw_server: Serve, make_transport: Make) -> None:
    """A commit may be under way: the cancellation waits for it, and nothing is sent."""
    server = raw_server([serve()])
    transport = make_transport(server)
    begun, may_end = asyncio.Event(), asyncio.Event()
    ran: list[str] = []

    async def gate() -> None:
        begun.set()
        await may_end.wait()
        ran.append("to its end")

    call = asyncio.create_task(transport.exchange(request_to(server), limits(), gate))
    await begun.wait()
    for _ in range(3):
        call.cancel()
        await turns()
    assert not call.done()
    may_end.set()
    await asyncio.gather(call, return_exceptions=True)

    assert (call.cancelled(), ran) == (True, ["to its end"])
    assert (server.arrived, pools(transport)) == (0, KEPT)


async def test_a_gate_that_fails_after_the_caller_has_gone_leaves_no_trace() -> None:
    """Its exception is nobody's, and no loop complains about it."""
    begun = asyncio.Event()
    may_end = asyncio.Event()

    async def gate() -> None:
        begun.set()
        await may_end.wait()
        raise LeaseLostError

    call = asyncio.create_task(ask(gate))
    await begun.wait()
    call.cancel()
    may_end.set()

    with pytest.raises(asyncio.CancelledError):
        await call


async def test_the_gates_word_is_handed_back() -> None:
    """`send_by`, or None, or the exception in a Failed."""

    async def word() -> float:
        return 5.0

    async def refusal() -> float:
        raise LeaseLostError

    assert await ask(word) == 5.0
    with pytest.raises(Failed) as failed:
        await ask(refusal)
    assert (failed.value.fault, type(failed.value.cause)) == (Fault.GATE_REFUSED, LeaseLostError)


@pytest.mark.parametrize("sent", [b"HTTP/1.1 200 OK\r\nContent-Le", b""])
async def test_a_cancelled_read_closes_its_connection(raw_server: Serve, make_transport: Make, sent: bytes) -> None:
    """Whoever stops listening frees the slot; the trail still says how far it came."""
    server = raw_server([REQUEST, send(sent), part(1)])
    transport = make_transport(server)
    trail = Trail()

    call = asyncio.create_task(transport.exchange(request_to(server), limits(), trail=trail))
    await server.wait_for(lambda server: server.arrived == 1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)

    assert (call.cancelled(), trail.phase) == (True, Phase.SENT)
    assert await settled(transport) == CLEAN
