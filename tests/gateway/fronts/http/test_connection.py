"""Connections: what is not a request at all."""

import asyncio

import pytest

from gateway.contract.envelope import parse_envelope
from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import Served, read_answer, serving

PATH = "/v1/tools/issue_refund/calls"
HEAD = (
    f"POST {PATH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n".encode()
)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 tls client hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: g\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : g\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: g\r\nX: a\x00b\r\n\r\n",
        b"GET @evil HTTP/1.1\r\nHost: g\r\n\r\n",
        b"GET /caf\xc3\xa9 HTTP/1.1\r\nHost: g\r\n\r\n",
        b"CONNECT evil:443 HTTP/1.1\r\nHost: g\r\n\r\n",
        HEAD + b"Content-Length: +2\r\n\r\n{}",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    ],
)
async def test_malformed_http_is_answered_with_an_envelope(served: Served, garbage: bytes) -> None:
    """Bytes that are no request get 400 and an envelope, and the connection is closed; nothing was asked."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(garbage)
    status, headers, body = await read_answer(reader)
    rest = await reader.read()
    writer.close()

    assert (status, headers["connection"]) == (400, "close")
    assert parse_envelope(body).ok is False
    assert body["error"]["code"] in {"invalid_request", "invalid_header"}
    assert rest == b""
    assert served.core.asked == []


async def test_a_head_that_does_not_end_is_cut_off() -> None:
    """A header line without an end is refused once it is larger than headers may be."""
    async with serving(header_bytes=1024) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: g\r\nX: ")
        for _ in range(64):
            writer.write(b"x" * 1024)
            await writer.drain()
        status, _, body = await read_answer(reader)
        writer.close()

    assert (status, body["error"]["code"]) == (400, "invalid_header")


@pytest.mark.parametrize("begun", [b"G", b"GET /healthz HTT", b"GET /healthz HTTP/1.1\r\nHost: g\r\n"])
@pytest.mark.parametrize("before", [0, 1])
async def test_a_head_that_is_not_there_in_time_is_refused(begun: bytes, before: int) -> None:
    """`body_timeout_s` bounds the head of the first request and of later ones: who stalls is answered and cut off."""
    async with serving(body_timeout_s=0.05) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        for _ in range(before):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n")
            assert (await read_answer(reader))[0] == 200
        writer.write(begun)
        status, headers, body = await asyncio.wait_for(read_answer(reader), 10)
        rest = await reader.read()
        writer.close()

    assert (status, headers["connection"], rest) == (400, "close", b"")
    assert body["error"]["code"] == "invalid_request"
    assert "its head did not arrive within 0.05 s" in body["error"]["message"]


async def test_a_connection_without_a_request_is_idle(served: Served) -> None:
    """Who connects and says nothing is hung up on after the time for which an idle connection is kept."""
    served.server.config.timeout_keep_alive = 0.05  # type: ignore[assignment]  # whole seconds are too long for a test
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


async def test_every_request_of_a_connection_has_its_own_bound() -> None:
    """What earlier requests of a connection needed is not counted against later ones."""
    async with serving(header_bytes=1024) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        statuses = []
        for _ in range(20):
            # In two pieces, so that each head is seen unfinished.
            writer.write(b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 900)
            await writer.drain()
            writer.write(b"\r\nHost: g\r\n\r\n")
            statuses.append((await read_answer(reader))[0])
        writer.close()

    assert statuses == [200] * 20


async def test_an_upgrade_is_not_taken(served: Served) -> None:
    """A websocket handshake is an ordinary request for a route there is not."""
    request = b"GET /ws HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    status, _, body = await served.raw(request)

    assert (status, body["error"]["code"]) == (404, "route_not_found")


async def test_five_hundred_broken_clients_leave_a_working_server(served: Served) -> None:
    """Connections that break at any byte of a call cost nothing that lasts."""
    whole = HEAD + b"Content-Length: 2\r\n\r\n{}"

    async def broken(length: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(whole[:length])
        writer.transport.abort()

    for start in range(0, 500, 50):
        await asyncio.gather(*(broken(number % len(whole)) for number in range(start, start + 50)))
    answer = await served.client.post(PATH, json={})

    assert answer.status_code == 200
