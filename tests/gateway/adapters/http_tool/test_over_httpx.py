"""Tools that are no socket: respx routes and applications in the same process."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import httpx
import pytest
import respx

from gateway.adapters.http_tool.errors import with_phase
from gateway.adapters.http_tool.over_httpx import OverHttpx
from gateway.adapters.system.clock import SystemClock
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Gate, Phase
from tests.gateway.adapters.http_tool.conftest import limits, request_to, told

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ORIGIN = "https://pay.example"


async def exchange(inner: httpx.AsyncBaseTransport, gate: Gate | None = None, **changes: Any) -> Exchange:
    return await OverHttpx(inner, SystemClock()).exchange(request_to(ORIGIN), limits(**changes), gate)


def answering(*args: object, **options: object) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(*args, **options))  # type: ignore[arg-type]


def raising(error: Exception) -> httpx.MockTransport:
    def handler(_: httpx.Request) -> httpx.Response:
        raise error

    return httpx.MockTransport(handler)


async def test_a_respx_router_stands_in_for_a_tool() -> None:
    """As manifest authors write their tests."""
    router = respx.Router()
    route = router.post(f"{ORIGIN}/refunds", params={"x": "1"}).respond(201, json={"id": 7}, headers={"X-A": "b"})

    found = await exchange(httpx.MockTransport(router.async_handler))

    assert found.answer is not None
    assert (told(found), found.answer.body) == ("201 8B [complete]", b'{"id":7}')
    assert ("x-a", "b") in found.answer.headers
    sent = route.calls.last.request
    assert (sent.content, sent.headers["x-key"]) == (b'{"a":1}', "k")


async def test_a_route_that_is_missing_fails_the_test() -> None:
    """It is a mistake in the test, not an outcome."""
    with pytest.raises(AssertionError, match="not mocked"):
        await exchange(httpx.MockTransport(respx.Router().async_handler))


async def test_a_connection_is_always_at_hand() -> None:
    """What is in process has none to open."""
    assert OverHttpx(answering(200), SystemClock()).has_idle(ORIGIN)


async def test_an_application_in_process_is_a_tool() -> None:
    """Through httpx's own ASGI transport."""

    async def application(scope: Message, _: Receive, send: Send) -> None:
        head = {"type": "http.response.start", "status": 200, "headers": [(b"x-path", scope["path"].encode())]}
        await send(head)
        await send({"type": "http.response.body", "body": b"{}"})

    found = await exchange(httpx.ASGITransport(application))

    assert found.answer == Answer(status=200, headers=(("x-path", "/refunds"),), body=b"{}")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (httpx.ConnectError("refused"), "connect_failed [sent]"),
        (httpx.ConnectTimeout("late"), "connect_timeout [sent]"),
        (httpx.ReadTimeout("late"), "read_timeout [sent]"),
        (httpx.RemoteProtocolError("odd"), "malformed [sent]"),
        (RuntimeError("odd"), "internal [sent]"),
        (with_phase(httpx.ConnectError("refused"), Phase.CONNECTING), "connect_failed [connecting]"),
    ],
)
async def test_what_it_raises_counts_as_sent_unless_it_says_otherwise(error: Exception, line: str) -> None:
    """No word on the phase proves nothing."""
    found = await exchange(raising(error))

    assert (told(found), found.cause) == (line, error)


async def test_the_gate_is_asked_first() -> None:
    """And can stop it."""

    async def gate() -> None:
        raise PermissionError

    found = await exchange(raising(AssertionError("sent")), gate)

    assert (told(found), type(found.cause)) == ("gate_refused [connected]", PermissionError)


async def test_send_by_and_deadline_hold() -> None:
    """As on a socket."""

    async def gate() -> float:
        return time.monotonic() - 1.0

    sent = raising(AssertionError("sent"))
    assert told(await exchange(sent, gate)) == "deadline [connected]"
    assert told(await exchange(sent, send_deadline=time.monotonic())) == "deadline [connected]"


async def test_a_request_that_may_not_be_written_is_refused() -> None:
    """Before anybody sees it."""
    tool = OverHttpx(raising(AssertionError("sent")), SystemClock())

    found = await tool.exchange(request_to(ORIGIN, target="/a b"), limits())

    assert told(found) == "bad_request [none]"


async def test_the_attempt_ends_in_time() -> None:
    """However slow the stand-in is."""

    async def handler(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    began = time.monotonic()
    found = await exchange(httpx.MockTransport(handler), total_s=0.05)

    assert told(found) == "read_timeout [sent]"
    assert time.monotonic() - began >= 0.05


@pytest.mark.parametrize("limit", [0, 4])
async def test_the_body_is_bounded(limit: int) -> None:
    """Cut at the limit."""
    found = await exchange(answering(200, content=b"12345"), result_bytes=limit)

    assert told(found) == f"200 {limit}B body_too_large [body]"


async def test_a_coded_body_is_decoded_within_the_limit() -> None:
    """Whether it came whole or in a stream."""

    async def stream() -> AsyncIterator[bytes]:
        yield gzip.compress(b"hello")

    headers = {"Content-Encoding": "gzip"}

    whole = await exchange(answering(200, content=stream(), headers=headers))
    bomb = await exchange(answering(200, content=gzip.compress(b"\0" * 9_000), headers=headers), result_bytes=1_000)

    assert whole.answer is not None
    assert (whole.answer.body, whole.fault) == (b"hello", None)
    assert bomb.fault is Fault.BODY_TOO_LARGE


async def test_a_body_that_breaks_off_keeps_its_status() -> None:
    """And what had come of it."""

    async def stream() -> AsyncIterator[bytes]:
        yield b"12"
        raise httpx.ReadError("broken")

    found = await exchange(answering(200, content=stream()))

    assert told(found) == "200 2B reset [body]"


async def test_a_stand_in_that_cannot_be_awaited_is_our_mistake() -> None:
    """A synchronous stream cannot be read here."""
    found = await exchange(answering(200, content=iter([b"x"])))

    assert told(found) == "200 0B internal [body]"
