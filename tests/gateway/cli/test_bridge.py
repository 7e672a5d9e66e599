"""The bridge against the real front, and against servers that are none."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from gateway.cli.bridge import Bridge
from gateway.contract.call import ToolCall
from gateway.contract.envelope import Envelope
from tests.gateway.fronts.http.fake_core import TOKEN, FakeCore
from tests.gateway.fronts.http.served import serving
from tests.gateway.fronts.mcp.asking import message, modern

CALL = {"name": "issue_refund", "arguments": {"order_id": "ORD-1"}}


@dataclass
class Desk:
    """A bridge, and what it has written."""

    bridge: Bridge
    written: list[Any] = field(default_factory=list)

    async def say(self, *documents: Any) -> list[Any]:
        """Give it these messages one after the other; what it has written when all are answered."""
        for document in documents:
            await self.bridge.take(document if isinstance(document, bytes) else json.dumps(document).encode())
            await self.bridge.finish()
        return self.written


def desk(client: httpx.AsyncClient, url: str) -> Desk:
    made = Desk(bridge=None)  # type: ignore[arg-type]  # each needs the other

    async def write(line: bytes) -> None:
        assert b"\n" not in line
        made.written.append(json.loads(line))

    made.bridge = Bridge(client, url, write)
    return made


@pytest.fixture
async def at_the_front() -> AsyncIterator[tuple[Desk, FakeCore]]:
    """A bridge to the real front around a core that echoes."""
    async with serving() as served, _client() as client:
        yield desk(client, f"http://localhost:{served.port}/mcp"), served.core


def _client(**more: Any) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    return httpx.AsyncClient(headers=headers, timeout=10, trust_env=False, **more)


def answering(answer: Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]) -> Desk:
    """A bridge to a server that answers so."""
    return desk(_client(transport=httpx.MockTransport(answer)), "http://gateway/mcp")


async def test_a_modern_client(at_the_front: tuple[Desk, FakeCore]) -> None:
    """The headers that the front demands are those of the body; answers come back as they are."""
    bridge, core = at_the_front
    found, listed, done = await bridge.say(modern("server/discover"), modern("tools/list"), modern("tools/call", CALL))

    assert "2026-07-28" in found["result"]["supportedVersions"]
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["issue_refund"]
    assert done["result"]["structuredContent"]["data"] == {"echo": {"order_id": "ORD-1"}}
    assert len([each for each in core.asked if isinstance(each[0], ToolCall)]) == 1


async def test_an_older_client(at_the_front: tuple[Desk, FakeCore]) -> None:
    """What it negotiated is the header of everything after; a notification has no answer."""
    bridge, _ = at_the_front
    hello, pong, done = await bridge.say(
        message("initialize", {"protocolVersion": "2025-06-18"}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        message("ping"),
        message("tools/call", CALL, rpc_id="c"),
    )

    assert hello["result"]["protocolVersion"] == "2025-06-18"
    assert (pong["result"], done["id"], done["result"]["isError"]) == ({}, "c", False)


async def test_the_negotiated_revision_is_said() -> None:
    """In the header, from the answer to `initialize` on."""
    seen: list[str | None] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("mcp-protocol-version"))
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})

    await answering(answer).say(message("initialize"), message("ping"), message("initialize"))

    assert seen == [None, "2025-06-18", None]


@pytest.mark.parametrize("name", ["größe", " padded", "=?base64?x?=", "two\nlines", ""])
async def test_a_name_that_no_header_can_hold_is_encoded(name: str) -> None:
    """As the protocol has it."""
    seen: list[str] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["mcp-name"])
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": {}})

    await answering(answer).say(modern("tools/call", {"name": name}))

    assert base64.b64decode(seen[0].removeprefix("=?base64?").removesuffix("?=")).decode() == name


async def test_a_batch_is_carried_as_it_is(at_the_front: tuple[Desk, FakeCore]) -> None:
    """Its answer is one line too."""
    bridge, _ = at_the_front

    ((first, second),) = await bridge.say([message("ping", rpc_id=1), message("ping", rpc_id=2)])

    assert (first["id"], second["id"]) == (1, 2)


@pytest.mark.parametrize("line", [b"{", b'{"a":1,"a":2}', b"[" * 100 + b"]" * 100, b"\xff"])
async def test_what_is_no_json_is_refused_here(at_the_front: tuple[Desk, FakeCore], line: bytes) -> None:
    """And the next message is served."""
    bridge, core = at_the_front
    error, pong = await bridge.say(line, message("ping"))

    assert (error["error"]["code"], pong["result"], core.refusals) == (-32700, {}, [])


async def test_what_is_no_message_is_refused_here(at_the_front: tuple[Desk, FakeCore]) -> None:
    """With its id, where it has one."""
    bridge, _ = at_the_front
    (error,) = await bridge.say({"jsonrpc": "2.0", "id": 9, "method": 7})

    assert (error["id"], error["error"]["code"]) == (9, -32600)


async def test_a_line_too_long_is_told(at_the_front: tuple[Desk, FakeCore]) -> None:
    """It has no id that could be read."""
    bridge, _ = at_the_front
    await bridge.bridge.too_long()

    assert bridge.written[0]["error"]["code"] == -32700


async def test_a_refusal_before_the_message_was_read_gets_its_id_back() -> None:
    """The front cannot name it; without a name the client would wait for ever."""
    async with serving() as served, httpx.AsyncClient(trust_env=False) as stranger:
        (refused,) = await desk(stranger, f"http://localhost:{served.port}/mcp").say(message("ping", rpc_id="p"))

    assert (refused["id"], refused["error"]["data"]["error"]["code"]) == ("p", "unauthenticated")


async def test_an_answer_over_several_lines_becomes_one() -> None:
    """Whoever is in between may have made it readable."""

    async def pretty(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b'{\n "jsonrpc": "2.0",\n "id": 1,\n "result": {}\n}')

    assert await answering(pretty).say(message("ping")) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


async def test_where_no_gateway_listens_nothing_was_sent() -> None:
    """A model is told that it may call again; any other request fails."""
    async with _client() as client:
        call, ping = await desk(client, "http://127.0.0.1:9/mcp").say(modern("tools/call", CALL), message("ping"))

    envelope = call["result"]["structuredContent"]
    assert (call["result"]["isError"], envelope["error"]["outcome"]) == (True, "not_executed")
    assert "safe" in envelope["error"]["message"]
    assert ping["error"]["code"] == -32603


async def _breaks_off(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("cut", request=request)


async def _says_nothing(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200)


async def _accepts(_: httpx.Request) -> httpx.Response:
    return httpx.Response(202)


async def _is_somebody_else(_: httpx.Request) -> httpx.Response:
    return httpx.Response(502, html="<h1>Bad Gateway</h1>")


def _answers(body: object) -> Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]:
    async def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(504, json=body)

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        _breaks_off,
        _is_somebody_else,
        _says_nothing,
        _accepts,
        _answers({"message": "Endpoint request timed out"}),
        _answers({"error": "upstream request timeout"}),
        _answers({"jsonrpc": "2.0", "id": 1}),
        _answers([]),
        _answers([{"message": "Endpoint request timed out"}]),
    ],
)
async def test_without_an_answer_the_outcome_is_unknown(
    answer: Callable[[httpx.Request], Coroutine[None, None, httpx.Response]],
) -> None:
    """And the model is told what makes it known: the same call, which is the same operation."""
    call, old, ping, batch = await answering(answer).say(
        modern("tools/call", CALL), message("tools/call", CALL), message("ping"), [message("ping")]
    )

    for told in (call, old):
        error = told["result"]["structuredContent"]["error"]
        assert (error["outcome"], error["next_action"], error["retryable"]) == ("unknown", "retry", True)
    assert ("resultType" in call["result"], "resultType" in old["result"]) == (True, False)
    assert (ping["id"], ping["error"]["code"]) == (1, -32603)
    assert "id" not in batch


async def test_a_model_is_told_no_path() -> None:
    """Of the address only the host, whatever is wrong: a path may be a secret of the operator's."""
    async with _client() as client:
        (call,) = await desk(client, "http://127.0.0.1:9/CANARY/mcp").say(modern("tools/call", CALL))
    made = desk(_client(transport=httpx.MockTransport(_says_nothing)), "http://gateway/CANARY/mcp")
    (other,) = await made.say(modern("tools/call", CALL))

    for told, host in ((call, "http://127.0.0.1:9"), (other, "http://gateway")):
        assert host in json.dumps(told)
        assert "CANARY" not in json.dumps(told)


async def test_what_asks_for_nothing_needs_no_answer() -> None:
    """A notification, or several at once."""
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert await answering(_accepts).say(note, [note, note]) == []


async def test_the_answer_to_another_request_is_none() -> None:
    """A model is not told what somebody else's call came to."""
    (call,) = await answering(_answers({"jsonrpc": "2.0", "id": "another", "result": {}})).say(
        modern("tools/call", CALL)
    )

    assert call["result"]["structuredContent"]["error"]["outcome"] == "unknown"


async def test_a_cancelled_request_is_hung_up_on_and_never_answered() -> None:
    """The gateway hears of it by the connection; other requests go on."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(_: ToolCall) -> Envelope:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    async with serving(FakeCore(on_call=slow)) as served, _client() as client:
        made = desk(client, f"http://localhost:{served.port}/mcp")
        await made.bridge.take(json.dumps(modern("tools/call", CALL)).encode())
        await asyncio.wait_for(begun.wait(), 5)
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await made.bridge.take(json.dumps(note).encode())
        await asyncio.wait_for(cancelled.wait(), 5)
        (pong,) = await made.say(message("ping", rpc_id=2))

    assert pong == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize("rpc_id", [7, None, ["x"]])
async def test_a_cancellation_of_nothing_is_nothing(at_the_front: tuple[Desk, FakeCore], rpc_id: Any) -> None:
    """Unknown, finished or malformed."""
    bridge, _ = at_the_front
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": rpc_id}}

    assert await bridge.say(note, {"jsonrpc": "2.0", "id": 1, "result": {}}) == []
