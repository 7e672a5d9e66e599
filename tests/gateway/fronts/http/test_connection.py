"""Connections: what is not a request at all."""

import asyncio
import contextlib

import pytest

from gateway.contract.envelope import parse_envelope
from gateway.contract.requests import Readiness
from tests.gateway.fronts.http.fake_core import TOKEN, FakeCore
from tests.gateway.fronts.http.served import Served, read_answer, serving
from tests.waiting import turns

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
        # 8 KiB are for the request line.
        for _ in range(10):
            writer.write(b"x" * 1024)
            await writer.drain()
        status, _, body = await read_answer(reader)
        writer.close()

    assert (status, body["error"]["code"]) == (400, "invalid_header")


async def test_a_head_may_be_as_long_as_its_bound() -> None:
    """`header_bytes` above its usual value; the request line is not counted."""
    async with serving(header_bytes=32_768) as served:
        head = b"GET /healthz?" + b"x" * 7_000 + b" HTTP/1.1\r\nHost: g\r\nX: " + b"x" * 30_000
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        for piece in (head, b"\r\n\r\n"):
            writer.write(piece)
            await writer.drain()
            # So that the head is seen unfinished.
            await turns(10)
        status, _, _ = await read_answer(reader)
        writer.close()

    assert status == 200


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


async def answers_of(served: Served, first: bytes, then: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send `then` once `first` is answered: the answer's status and headers, and all that comes after it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(first)
    status, headers, _ = await asyncio.wait_for(read_answer(reader), 10)
    rest = b""
    with contextlib.suppress(ConnectionError):
        writer.write(then)
        rest = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return status, headers, rest


UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
INNER = HEAD + b"Content-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize("target", [f"POST {PATH}", "POST /mcp", "GET /healthz", "POST /v1/approvals/01JAP/decision"])
@pytest.mark.parametrize("framing", [b"Content-Length: %d" % len(INNER), b"Transfer-Encoding: chunked"])
async def test_the_body_of_an_upgrade_is_not_a_request(served: Served, target: str, framing: bytes) -> None:
    """Who asks for an upgrade and has a body is refused and cut off: the body is never taken for the next request."""
    request = b"%b HTTP/1.1\r\nHost: g\r\n%b%b\r\n\r\n" % (target.encode(), UPGRADE, framing)
    status, headers, rest = await answers_of(served, request, INNER)

    assert (status, headers["connection"], rest) == (400, "close", b"")
    assert served.core.asked == []


@pytest.mark.parametrize(("target", "status"), [("GET /healthz", 200), (f"POST {PATH}", 401), ("POST /mcp", 421)])
async def test_nothing_follows_an_upgrade(served: Served, target: str, status: int) -> None:
    """A request that asks for an upgrade is answered as if it did not, and is the last of its connection."""
    request = b"%b HTTP/1.1\r\nHost: g\r\n%b\r\n" % (target.encode(), UPGRADE)
    answered, headers, rest = await answers_of(served, request, INNER)

    assert (answered, headers["connection"], rest) == (status, "close", b"")
    assert served.core.asked == []


async def test_what_comes_while_an_upgrade_waits_is_dropped() -> None:
    """Bytes behind the head of an upgrade are no request either while its answer is still being made."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> Readiness:
        begun.set()
        await go_on.wait()
        return Readiness(ready=True, draining=False)

    async with serving(FakeCore(readiness=slow)) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: g\r\n" + UPGRADE + b"\r\n")
        await asyncio.wait_for(begun.wait(), 10)
        writer.write(INNER)
        # Another connection's answer comes after what was sent before it has been read.
        await served.client.get("/healthz")
        go_on.set()
        status, headers, _ = await asyncio.wait_for(read_answer(reader), 10)
        rest = await asyncio.wait_for(reader.read(), 10)
        writer.close()

    assert (status, headers["connection"], rest, served.core.asked) == (200, "close", b"", [])


@pytest.mark.parametrize("path", [PATH, "/v1/approvals/01JAP/decision"])
@pytest.mark.parametrize("pieces", [1, 2])
async def test_a_credential_in_a_trailer_is_none(served: Served, path: str, pieces: int) -> None:
    """Trailers are not read, and least of all as a credential, whether they come with the head or after it."""
    head = f"POST {path} HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = f"2\r\n{{}}\r\n0\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    if pieces == 1:
        writer.write((head + body).encode())
    else:
        writer.write(head.encode())
        await served.client.get("/healthz")
        writer.write(body.encode())
    status, _, _ = await asyncio.wait_for(read_answer(reader), 10)
    writer.close()

    assert (status, served.core.asked) == (401, [])


async def test_trailers_belong_to_no_request(served: Served) -> None:
    """What would be a second Idempotency-Key is dropped with the other trailers, and is none of the next request's."""
    key = b"Idempotency-Key: in-the-head\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: 1\r\nIdempotency-Key: in-a-trailer\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(HEAD + key + chunked + HEAD + b"Content-Length: 2\r\n\r\n{}")
    statuses = [(await asyncio.wait_for(read_answer(reader), 10))[0] for _ in range(2)]
    writer.close()

    assert statuses == [200, 200]
    assert [call.idempotency_key for call, _ in served.core.asked] == ["in-the-head", None]


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "head", [HEAD, f"POST {PATH} HTTP/1.1\r\nHost: g\r\n".encode(), b"GET / HTTP/1.1\r\nHost: g\r\n"]
)
@pytest.mark.parametrize(
    ("start", "endless"),
    [
        (b"0\r\n", b"x: " + b"y" * 1000 + b"\r\n"),
        (b"0\r\nx: ", b"y" * 1000),
        (b"0\r\nx", b"y" * 1000),
        (b"1;a=", b"y" * 1000),
        (b"", b"1;a=" + b"y" * 1000 + b"\r\nx\r\n"),
    ],
)
async def test_what_is_no_body_has_an_end(head: bytes, start: bytes, endless: bytes) -> None:
    """Endless trailers and chunk extensions are cut off, whether or not their request has been answered."""
    cut = False
    async with serving(header_bytes=1024) as served:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(head + CHUNKED + start)
        # Many times what both ends' sockets hold.
        for _ in range(500):
            writer.write(endless * 64)
            try:
                await writer.drain()
            except ConnectionError:
                cut = True
                break
        writer.close()

    assert cut


async def test_many_small_chunks_are_a_body() -> None:
    """What is written around chunks is not counted against a body, however many it comes in."""
    async with serving(header_bytes=1024) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        statuses = []
        for _ in range(2):
            writer.write(HEAD + CHUNKED)
            for _ in range(2):
                # Another connection's answer: what was sent has been read, and what follows is counted.
                await served.client.get("/healthz")
                writer.write(b"1\r\n \r\n" * 10_000)
            await served.client.get("/healthz")
            writer.write(b"2\r\n{}\r\n0\r\n\r\n")
            statuses.append((await asyncio.wait_for(read_answer(reader), 10))[0])
        writer.close()

    assert statuses == [200, 200]


async def test_what_came_with_a_head_is_not_counted_to_it() -> None:
    """Behind many requests in one piece the beginning of another is no large head."""
    call = HEAD + b"Content-Length: 2\r\n\r\n{}"
    async with serving(header_bytes=1024) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(call * 100 + call[:60])
        statuses = [(await asyncio.wait_for(read_answer(reader), 10))[0] for _ in range(100)]
        writer.write(call[60:])
        statuses.append((await asyncio.wait_for(read_answer(reader), 10))[0])
        writer.close()

    assert statuses == [200] * 101


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
