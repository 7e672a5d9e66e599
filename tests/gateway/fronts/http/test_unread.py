"""Answers that their client does not read."""

import asyncio
import socket

import pytest

from gateway.contract.call import ToolCall
from gateway.contract.envelope import Envelope, Meta, succeed
from tests.gateway.fronts.http.fake_core import TOKEN, FakeCore
from tests.gateway.fronts.http.served import Served, serving

PATH = "/v1/tools/issue_refund/calls"
LINES = f"Host: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n".encode()
CALL = f"POST {PATH} HTTP/1.1\r\n".encode() + LINES
# More than the kernel takes from a sender whose receiver does not read.
LARGE = "x" * 16_000_000


async def large(call: ToolCall) -> Envelope:
    """What the kernel does not hold."""
    return succeed({"text": LARGE}, Meta(request_id=call.request_id, tool=call.tool))


async def ask_and_never_read(served: Served, requests: bytes, gone: asyncio.Event) -> socket.socket:
    """Send them on a connection whose answers nobody reads; `gone` is set when the server has let go of it."""
    served.server.server_state.none_left = gone.set  # type: ignore[attr-defined]  # `Connections`
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", served.port))
    await loop.sock_sendall(client, requests)
    return client


@pytest.mark.parametrize(
    "requests",
    [
        (CALL + b"\r\n{}") * 2,
        CALL + b"Connection: close\r\n\r\n{}",
        b"GET /openapi.json HTTP/1.1\r\nHost: g\r\n\r\n" * 1000,
        b"GET /openapi.json HTTP/1.1\r\nHost: g\r\n\r\n" * 1000 + CALL + b"\r\n{}",
    ],
    ids=["calls", "the last call", "other requests", "a call behind others"],
)
async def test_who_does_not_read_is_hung_up_on(requests: bytes) -> None:
    """After `body_timeout_s` in which an answer was not taken, the connection and the tasks of its requests are gone."""
    gone = asyncio.Event()
    async with serving(FakeCore(on_call=large), body_timeout_s=0.2) as served:
        client = await ask_and_never_read(served, requests, gone)
        await asyncio.wait_for(gone.wait(), 8)
        tasks = list(served.server.server_state.tasks)
        pending = (await asyncio.wait(tasks, timeout=8))[1] if tasks else set()
        client.close()

    assert pending == set()


async def test_a_closed_connection_is_not_kept_for_what_is_unread() -> None:
    """What is too little to stop writing does not keep an idle connection either once it has been closed."""
    gone = asyncio.Event()
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def later(call: ToolCall) -> Envelope:
        begun.set()
        await go_on.wait()
        return await large(call)

    async with serving(FakeCore(on_call=later), body_timeout_s=0.2) as served:
        served.server.config.timeout_keep_alive = 0.05  # type: ignore[assignment]  # whole seconds are too long
        client = await ask_and_never_read(served, CALL + b"\r\n{}", gone)
        await asyncio.wait_for(begun.wait(), 8)
        for connection in served.server.server_state.connections:
            connection.transport.set_write_buffer_limits(high=100_000_000)
        go_on.set()
        await asyncio.wait_for(gone.wait(), 8)
        client.close()
