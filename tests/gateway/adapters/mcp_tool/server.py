"""The outermost edge: an MCP server on a real socket that does to each `tools/call` what the test's script says.

It speaks the revision of 2026, or an older one with sessions, and shows the tools that a test gives it. `done` is its word
on what was done.
"""

import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.gateway.pipeline.provider import Exchange, Provider, Reply, Request

MODERN: Final = "2026-07-28"
REFUND: Final[Mapping[str, Any]] = {
    "name": "refund",
    "description": "Refund an order.",
    "inputSchema": {"type": "object", "properties": {"order": {"type": "string"}}},
    "annotations": {"readOnlyHint": True, "idempotentHint": True},
}
LIST: Final[Mapping[str, Any]] = {"name": "refunds", "inputSchema": {"type": "object"}}

CallReply = Callable[["McpServer", Exchange, Mapping[str, Any]], Awaitable[None]]


@dataclass(slots=True)
class McpServer(Provider):
    """`calls` are the replies to come to `tools/call`, oldest first; without one, it works as it should.

    Attributes:
        revision: the newest it speaks.
        sessions: `initialize` is answered with a session, and every other message must name it.
        known: the sessions that it has opened and not forgotten.
        asked_for: how often each method came.
        questions: replies by method, in place of its own.
    """

    revision: str = MODERN
    sessions: bool = True
    tools: list[Mapping[str, Any]] = field(default_factory=lambda: [REFUND, LIST])
    calls: deque[CallReply] = field(default_factory=deque)
    questions: dict[str, Reply] = field(default_factory=dict)
    asked_for: Counter[str] = field(default_factory=Counter)
    done: list[Mapping[str, Any]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    session_count: int = 0

    @property
    def carried(self) -> list[Request]:
        """The `tools/call` that have arrived."""
        return [it for it in self.requests if b'"tools/call"' in it.body]

    def params(self, index: int = -1) -> dict[str, Any]:
        """The `params` of one of them."""
        return dict(json.loads(self.carried[index].body)["params"])

    def restart(self) -> None:
        """Forget every session, as a server does that was started anew."""
        self.known.clear()

    def _reply(self, request: Request) -> Reply:
        message = json.loads(request.body)

        async def reply(exchange: Exchange) -> None:
            self.asked_for[message["method"]] += 1
            await self._speak(exchange, message)

        return reply

    async def _speak(self, exchange: Exchange, message: dict[str, Any]) -> None:
        method, headers = message["method"], exchange.request.headers
        if (question := self.questions.get(method)) is not None:
            await question(exchange)
        elif self.revision != MODERN and method == "initialize":
            await self._initialize(exchange, message)
        elif self.revision != MODERN and headers.get("mcp-protocol-version") == MODERN:
            await exchange.send(400, error(None, -32600))
        elif self.revision != MODERN and self.sessions and headers.get("mcp-session-id") not in self.known:
            await exchange.send(404, error(None, -32001))
        elif method.startswith("notifications/"):
            await exchange.send(202)
        elif method == "server/discover" and self.revision == MODERN:
            await say(exchange, message, {"resultType": "complete", "supportedVersions": [MODERN]})
        elif method == "tools/list":
            await say(exchange, message, {"tools": self.tools})
        elif method == "tools/call":
            await (self.calls.popleft() if self.calls else works)(self, exchange, message)
        else:
            await exchange.send(404, error(message["id"], -32601))

    async def _initialize(self, exchange: Exchange, message: dict[str, Any]) -> None:
        headers = {}
        if self.sessions:
            self.session_count += 1
            headers["Mcp-Session-Id"] = f"s-{self.session_count}"
            self.known.add(headers["Mcp-Session-Id"])
        result = {"protocolVersion": self.revision, "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}
        await exchange.send(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, _JSON | headers)

    def carry_out(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Do it; what was done."""
        arguments = message["params"].get("arguments", {})
        if message["params"]["name"] == LIST["name"]:
            return {"items": [dict(it) for it in self.done], "complete": True}
        key = arguments.get("key")
        before = next((it for it in self.done if key is not None and it["key"] == key), None)
        if before is None:
            before = {"id": f"R-{len(self.done) + 1}", "key": key, "n": arguments.get("amount")}
            self.done.append(before)
        return dict(before)


_JSON: Final = {"Content-Type": "application/json"}
_STREAM: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def error(ident: Any, code: int, message: str = "no") -> dict[str, Any]:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}}


async def say(exchange: Exchange, message: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """Answer with a result, as JSON."""
    await exchange.send(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, _JSON)


def structured(data: Any, **more: Any) -> dict[str, Any]:
    """The result of a call, as text and as data."""
    return {"content": [{"type": "text", "text": json.dumps(data)}], "structuredContent": data, **more}


async def works(server: McpServer, exchange: Exchange, message: Mapping[str, Any]) -> None:
    """Do it and say so."""
    await say(exchange, message, structured(server.carry_out(message)))


def result(value: Mapping[str, Any]) -> CallReply:
    """Do nothing, and answer this result."""

    async def reply(_: McpServer, exchange: Exchange, message: Mapping[str, Any]) -> None:
        await say(exchange, message, value)

    return reply


def tool_error(text: str = "it failed") -> CallReply:
    """Do nothing, and answer a result with `isError`."""
    return result({"content": [{"type": "text", "text": text}], "isError": True})


def rpc_error(code: int, status: int = 200, *, unaddressed: bool = False) -> CallReply:
    """Do nothing, and answer a JSON-RPC error."""

    async def reply(_: McpServer, exchange: Exchange, message: Mapping[str, Any]) -> None:
        await exchange.send(status, error(None if unaddressed else message["id"], code), _JSON)

    return reply


def status(code: int, body: Any = None, **headers: str) -> CallReply:
    """Do nothing, and answer a status."""

    async def reply(_: McpServer, exchange: Exchange, __: Mapping[str, Any]) -> None:
        await exchange.send(code, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return reply


def does_then(then: CallReply) -> CallReply:
    """Do it, and answer otherwise."""

    async def reply(server: McpServer, exchange: Exchange, message: Mapping[str, Any]) -> None:
        server.carry_out(message)
        await then(server, exchange, message)

    return reply


async def cut(_: McpServer, exchange: Exchange, __: Mapping[str, Any]) -> None:
    """Close without a word."""
    exchange.cut()


async def silence(_: McpServer, exchange: Exchange, __: Mapping[str, Any]) -> None:
    """Never answer."""
    await exchange.hung_up()


def stream(*events: Any, after: str = "end", answer: bool = True, line_end: str = "\n") -> CallReply:
    """Do it, and answer with a stream: these events, the answer if `answer`, and then `end`, `cut` or `open`."""

    async def reply(server: McpServer, exchange: Exchange, message: Mapping[str, Any]) -> None:
        done = {"jsonrpc": "2.0", "id": message["id"], "result": structured(server.carry_out(message))}
        await exchange.raw(_STREAM)
        for event in (*events, *([done] if answer else [])):
            text = event if isinstance(event, str) else f"event: message{line_end}data: {json.dumps(event)}"
            data = f"{text}{line_end}{line_end}".encode()
            await exchange.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if after == "open":
            await exchange.hung_up()
        elif after == "cut":
            exchange.cut()
        else:
            await exchange.raw(b"0\r\n\r\n")

    return reply
