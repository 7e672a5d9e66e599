"""Turns: what a tool call gets from its connection without ASGI between."""

import asyncio
import gc
import json

import pytest

from gateway.contract.call import ToolCall
from gateway.contract.envelope import Envelope
from gateway.fronts.http.connection import Connection
from gateway.fronts.http.turn import Turn
from tests.gateway.fronts.http.fake_core import TOKEN, FakeCore
from tests.gateway.fronts.http.served import Served, read_answer, serving
from tests.waiting import eventually, turns

PATH = "/v1/tools/issue_refund/calls"
LINES = f"Host: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
HEAD = f"POST {PATH} HTTP/1.1\r\n{LINES}".encode()


def call_of(arguments: object) -> bytes:
    """A whole request."""
    body = json.dumps({"arguments": arguments}).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


async def test_a_connection_carries_call_after_call(served: Served) -> None:
    """Each call of a connection is answered, dated, and the connection stays."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    seen = []
    for number in range(5):
        writer.write(call_of({"n": number}))
        status, headers, body = await read_answer(reader)
        seen.append((status, body["data"]["echo"]["n"], "date" in headers, "connection" in headers))
    writer.close()

    assert seen == [(200, number, True, False) for number in range(5)]


async def test_who_asks_for_the_end_gets_it(served: Served) -> None:
    """`Connection: close` is said again in the answer, and done."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}")
    status, headers, _ = await read_answer(reader)
    rest = await asyncio.wait_for(reader.read(), 5)
    writer.close()

    assert (status, headers["connection"], rest) == (200, "close", b"")


async def test_a_chunked_body_may_come_byte_by_byte(served: Served) -> None:
    """However small the pieces, the body is one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    whole = HEAD + b'Transfer-Encoding: chunked\r\n\r\n8\r\n{"argume\r\nc\r\nnts":{"a":1}\r\n1\r\n}\r\n0\r\n\r\n'
    for number in range(len(whole)):
        writer.write(whole[number : number + 1])
        await writer.drain()
        await turns()
    status, _, body = await read_answer(reader)
    writer.close()

    assert (status, body["data"]) == (200, {"echo": {"a": 1}})


async def test_a_large_body_is_read_to_its_end() -> None:
    """A body of many times the size at which reading pauses arrives whole."""
    text = "x" * 900_000
    async with serving(request_bytes=1_000_000) as served:
        answer = await served.client.post(PATH, json={"arguments": {"a": text}})

    assert answer.json()["data"] == {"echo": {"a": text}}


async def test_a_refusal_does_not_wait_for_its_body(served: Served) -> None:
    """Without a key the answer comes before the body; what still comes of it is dropped, and the next call is served."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(b"POST %b HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\n" % PATH.encode())
    refused = await read_answer(reader)
    writer.write(b"123456789" + call_of({"a": 1}))
    answered = await read_answer(reader)
    writer.close()

    assert (refused[0], answered[0], answered[2]["data"]) == (401, 200, {"echo": {"a": 1}})


async def test_a_client_that_does_not_read_is_waited_for() -> None:
    """Large answers to pipelined calls that nobody reads yet come one after the other, none lost."""
    text = "x" * 300_000
    async with serving(request_bytes=1_000_000) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port, limit=1_000_000)
        for number in range(8):
            writer.write(call_of({"n": number, "text": text}))
        await turns()
        answers = [await asyncio.wait_for(read_answer(reader), 10) for _ in range(8)]
        writer.close()

    assert [body["data"]["echo"]["n"] for _, _, body in answers] == list(range(8))


async def test_a_call_in_front_of_others_learns_that_its_client_is_gone() -> None:
    """When a connection with pipelined calls is cut off, the one that runs is cancelled and the rest never begin."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(_: ToolCall) -> Envelope:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    core = FakeCore(on_call=slow)
    async with serving(core) as served:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(call_of({"n": 1}) + call_of({"n": 2}))
        await asyncio.wait_for(begun.wait(), 5)
        for connection in list(served.server.server_state.connections):
            connection.transport.abort()
        await asyncio.wait_for(cancelled.wait(), 5)
        writer.close()

    assert len(core.asked) == 1


@pytest.mark.parametrize(
    "request_line",
    [f"POST {PATH} HTTP/1.0", f"POST {PATH}?a=b HTTP/1.1", f"POST http://g{PATH} HTTP/1.1"],
)
async def test_what_is_not_quite_the_hot_route_is_served_by_the_router(served: Served, request_line: str) -> None:
    """Another version, a query or an absolute target change nothing about the answer."""
    request = f"{request_line}\r\n{LINES}Content-Length: 2\r\n\r\n{{}}"
    status, _, body = await served.raw(request.encode())

    assert (status, body["data"]) == (200, {"echo": {}})


async def test_a_body_may_wait_to_be_asked_for(served: Served) -> None:
    """`Expect: 100-continue` is told to continue, and then answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    told = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    writer.write(b"{}")
    status, _, _ = await read_answer(reader)
    writer.close()

    assert (told, status) == (b"HTTP/1.1 100 Continue\r\n\r\n", 200)


async def test_a_connection_is_idle_from_its_last_answer_on() -> None:
    """After an answer a connection is kept for its time and not longer; while a call runs it is not idle at all."""
    release, begun = asyncio.Event(), asyncio.Event()

    async def slow(call: ToolCall) -> Envelope:
        begun.set()
        await release.wait()
        return await FakeCore().call(call, None)  # type: ignore[arg-type]  # it only keeps it

    async with serving(FakeCore(on_call=slow)) as served:
        served.server.config.timeout_keep_alive = 0.05  # type: ignore[assignment]  # whole seconds are too long
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(call_of({}))
        await begun.wait()
        loop = asyncio.get_running_loop()
        loop.call_later(0.15, release.set)
        status, _, _ = await read_answer(reader)
        rest = await asyncio.wait_for(reader.read(), 10)
        writer.close()

    assert (status, rest) == (200, b"")


async def test_a_lost_connection_leaves_nothing_for_the_garbage_collector(served: Served) -> None:
    """It and its last call are gone with their client, whether a tool was called or something else was asked."""

    def kept() -> int:
        return sum(isinstance(it, Connection | Turn) for it in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = kept()
        assert (await served.raw(call_of({})))[0] == 200
        assert (await served.raw(b"GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n"))[0] == 200
        await eventually(lambda: kept() == before)
    finally:
        gc.enable()
