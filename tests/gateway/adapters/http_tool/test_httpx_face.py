"""The transport as httpx sees it."""

import gzip
from collections.abc import AsyncIterator

import httpx
import pytest

from gateway.adapters.http_tool.errors import phase_of
from gateway.adapters.http_tool.httpx_face import Attempt, HttpxTransport, wire_request
from gateway.adapters.system.clock import SystemClock
from gateway.stages.execute.attempt.exchange import Phase
from tests.faults.raw_server import FIN, REQUEST, hold, part, send, serve
from tests.gateway.adapters.http_tool.conftest import Make, Serve, limits, settled

HALF_BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"


async def test_a_client_of_httpx_works_on_it(raw_server: Serve, make_transport: Make) -> None:
    """Requests, answers, connections kept, and no cookie jar below the client's own."""
    server = raw_server([serve()])

    async with httpx.AsyncClient(transport=HttpxTransport(make_transport(server), SystemClock())) as client:
        answers = [await client.post(f"{server.origin}/refunds?a=%20b", json={"a": 1}) for _ in range(2)]

    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, {})] * 2
    assert (server.arrived, server.connections) == (2, 1)
    assert server.requests[0].line == "POST /refunds?a=%20b HTTP/1.1"
    assert server.requests[0].body == b'{"a":1}'


async def test_the_attempt_travels_with_the_request(raw_server: Serve, make_transport: Make) -> None:
    """Its limits hold, its gate is asked, and how it went can be read."""
    server = raw_server([serve()])
    asked: list[Phase] = []

    async def gate() -> None:
        asked.append(attempt.phase)

    attempt = Attempt(limits=limits(), gate=gate)
    request = httpx.Request("GET", server.origin, extensions={"attempt": attempt})
    response = await HttpxTransport(make_transport(server), SystemClock()).handle_async_request(request)

    assert asked == [Phase.CONNECTED]
    assert (attempt.phase, attempt.exchange) == (Phase.COMPLETE, response.extensions["exchange"])
    assert await response.aread() == b"{}"


async def test_what_the_gate_raises_comes_out_as_it_is(raw_server: Serve, make_transport: Make) -> None:
    """With nothing sent."""
    server = raw_server([serve()])

    async def gate() -> None:
        raise PermissionError("the lease was lost")

    attempt = Attempt(limits=limits(), gate=gate)
    request = httpx.Request("GET", server.origin, extensions={"attempt": attempt})
    with pytest.raises(PermissionError):
        await HttpxTransport(make_transport(server), SystemClock()).handle_async_request(request)

    assert (attempt.phase, server.arrived) == (Phase.CONNECTED, 0)


async def test_a_failure_is_httpxs_own_with_its_phase(raw_server: Serve, make_transport: Make) -> None:
    """The class says what happened, the phase what it proves."""
    server = raw_server([REQUEST, FIN])
    face = HttpxTransport(make_transport(server), SystemClock())

    with pytest.raises(httpx.RemoteProtocolError) as raised:
        await face.handle_async_request(httpx.Request("GET", server.origin))

    assert phase_of(raised.value) is Phase.SENT


async def test_a_lost_body_raises_where_it_is_read(raw_server: Serve, make_transport: Make) -> None:
    """The status has been seen by then, and what came of the body too."""
    server = raw_server([REQUEST, send(HALF_BODY), FIN])
    transport = make_transport(server)

    response = await HttpxTransport(transport, SystemClock()).handle_async_request(httpx.Request("GET", server.origin))
    chunks = response.aiter_raw()
    first = await anext(chunks)
    with pytest.raises(httpx.RemoteProtocolError) as raised:
        await anext(chunks)

    assert (response.status_code, first, phase_of(raised.value)) == (200, b"12345", Phase.BODY)
    assert await settled(transport) == "0 active, 0 idle, 0 waiting"


async def test_an_answer_that_nobody_reads_keeps_no_connection(raw_server: Serve, make_transport: Make) -> None:
    """It is whole when it is returned."""
    server = raw_server([serve()])
    transport = make_transport(server)

    for _ in range(3):
        await HttpxTransport(transport, SystemClock()).handle_async_request(httpx.Request("GET", server.origin))

    assert (server.connections, await settled(transport)) == (1, "0 active, 1 idle, 0 waiting")


async def test_a_decoded_answer_is_not_decoded_again(raw_server: Serve, make_transport: Make) -> None:
    """Our own bounded decoding takes the header away."""
    packed = gzip.compress(b'{"a":1}')
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    server = raw_server([serve(head + packed)])

    async with httpx.AsyncClient(transport=HttpxTransport(make_transport(server), SystemClock())) as client:
        answer = await client.get(server.origin)

    assert (answer.json(), "content-encoding" in answer.headers) == ({"a": 1}, False)


@pytest.mark.parametrize(
    ("bounds", "raised"),
    [
        (httpx.Timeout(5.0, read=0.05), httpx.ReadTimeout),
        (httpx.Timeout(None, read=0.05), httpx.ReadTimeout),
        (httpx.Timeout(5.0, write=0.05), httpx.WriteTimeout),
        (httpx.Timeout(5.0, pool=0.0), httpx.PoolTimeout),
    ],
)
async def test_a_plain_requests_own_timeouts_hold(
    raw_server: Serve, make_transport: Make, bounds: httpx.Timeout, raised: type[Exception]
) -> None:
    """Each of the four that httpx knows."""
    server = raw_server([part(1), hold])
    transport = make_transport(server, connections=0 if raised is httpx.PoolTimeout else 5)
    body = b"x" * (20_000_000 if raised is httpx.WriteTimeout else 1)

    async with httpx.AsyncClient(transport=HttpxTransport(transport, SystemClock()), timeout=bounds) as client:
        with pytest.raises(raised):
            await client.post(server.origin, content=body)


async def test_a_request_becomes_ours() -> None:
    """Method, origin, target, headers but for framing, and the whole body, streamed or not."""

    async def stream() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    request = httpx.Request("PUT", "http://[::1]:81/a%2Fb?c", headers={"X-A": "1"}, content=stream())

    found = await wire_request(request)

    assert (found.method, found.origin, found.target) == ("PUT", "http://[::1]:81", "/a%2Fb?c")
    assert (found.headers, found.body) == ((("X-A", "1"),), b"ab")


async def test_a_target_can_be_given_as_it_is() -> None:
    """Httpx's own extension for it."""
    request = httpx.Request("GET", "http://pay.example/", extensions={"target": b"/as/it/is"})

    assert (await wire_request(request)).target == "/as/it/is"
