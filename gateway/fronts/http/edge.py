"""The outermost ASGI application: bounds every request, takes the hot path by itself, and lets no failure out bare."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import fail
from gateway.fronts.http.answers import Answer, Refusal, answer_of, send_answer
from gateway.fronts.http.calls import CallEndpoint
from gateway.fronts.http.head import Exchange, read_head, trace_context
from gateway.fronts.http.ports import Requests
from gateway.stages.monitor.ports import RequestTrace

logger = logging.getLogger("oncegate.http")

CALLS_ROUTE: Final = "/v1/tools/{tool}/calls"
MCP_ROUTE: Final = "/mcp"
# No answer was sent: nginx's number for it, since HTTP has none.
_CLIENT_CLOSED: Final = 499


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """`header_bytes` for all headers together; `hosts` that may be named, none meaning any."""

    header_bytes: int
    hosts: frozenset[bytes] = frozenset()


class Beside(Protocol):
    """Another protocol's endpoint at a path of this front, which answers in its own form whatever happens."""

    async def answer(self, exchange: Exchange, receive: Receive, send: Send) -> None:
        """Answer one request; no answer when the client is gone. Never raises."""
        ...

    def refused(self, refusal: Refusal, exchange: Exchange) -> Answer:
        """A request whose head is refused."""
        ...


def request_ids(prefix: str) -> Iterator[str]:
    """Unique in this process; `prefix` keeps processes apart."""
    return (f"{prefix}{number:08x}" for number in itertools.count(1))


class Edge:
    """`router` serves every route; `calls` is its busiest one, reached without walking the others, and so is `mcp`.

    `template_of` names the route of a path; `requests` watches; `start` and `stop` bracket the application's life.
    """

    def __init__(
        self,
        router: ASGIApp,
        calls: CallEndpoint,
        bounds: Bounds,
        ids: Iterator[str],
        *,
        template_of: Callable[[str], str | None],
        requests: Requests,
        start: Callable[[], Awaitable[None]],
        stop: Callable[[], Awaitable[None]],
    ) -> None:
        self._router = router
        self._calls = calls
        self._bounds = bounds
        self._ids = ids
        self._template_of = template_of
        self._requests = requests
        self._start = start
        self._stop = stop
        self.mcp: Beside | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(next(self._ids), asyncio.get_running_loop().time(), {})
        sender = _Sender(send)
        trace: RequestTrace | None = None
        mcp = self.mcp if scope["path"] == MCP_ROUTE and scope["method"] == "POST" else None
        try:
            exchange.head = read_head(scope["headers"], max_bytes=self._bounds.header_bytes, hosts=self._bounds.hosts)
            tool = None if mcp is not None else _tool_called(scope)
            route = CALLS_ROUTE if tool is not None else self._template_of(scope["path"])
            parent, state = trace_context(exchange.head)
            trace = self._requests.request_started(scope["method"], route, traceparent=parent, tracestate=state)
            exchange.trace = trace.traceparent, trace.tracestate
            if mcp is not None:
                await mcp.answer(exchange, receive, sender)
            elif tool is None:
                scope["oncegate"] = exchange
                await self._router(scope, receive, sender)
            else:
                await self._calls.answer(exchange, tool, receive, sender)
        except Refusal as refusal:
            if mcp is not None:
                answer = mcp.refused(refusal, exchange)
            else:
                envelope = refusal.envelope(exchange.meta(asyncio.get_running_loop().time()))
                answer = answer_of(envelope, refusal.headers)
            await send_answer(sender, answer)
        except Exception:
            logger.exception("a request failed in the front", extra={"request_id": exchange.request_id})
            if not sender.status:
                meta = exchange.meta(asyncio.get_running_loop().time())
                await send_answer(sender, answer_of(fail(ErrorCode.GATEWAY_ERROR, meta)))
        finally:
            if trace is not None:
                trace.ended(sender.status or _CLIENT_CLOSED)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._start()
        except Exception as error:
            logger.exception("the gateway did not start")
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        try:
            await self._stop()
        except Exception as error:
            logger.exception("the gateway did not stop cleanly")
            await send({"type": "lifespan.shutdown.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})


class _Sender:
    """Passes messages on and remembers the status; 0 until an answer has begun."""

    __slots__ = ("_send", "status")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


@dataclass(frozen=True, slots=True)
class Unwatched:
    """`Requests` without telemetry: what came in is what the call's span sees."""

    traceparent: str | None = None
    tracestate: str | None = None

    def request_started(
        self, method: str, route: str | None, *, traceparent: str | None = None, tracestate: str | None = None
    ) -> "Unwatched":
        """Nobody watches."""
        del method, route
        return Unwatched(traceparent, tracestate)

    def ended(self, status: int) -> None:
        """Nobody watched."""


def _tool_called(scope: Scope) -> str | None:
    """The tool of `POST /v1/tools/{tool}/calls`; None for every other route.

    Raises:
        Refusal: `route_not_found`. No path of ours needs an escape, so each route has one spelling and no other way in.
    """
    if b"%" in scope["raw_path"]:
        raise Refusal(ErrorCode.ROUTE_NOT_FOUND)
    parts = scope["path"].split("/")
    if (
        len(parts) == 5
        and parts[1] == "v1"
        and parts[2] == "tools"
        and parts[4] == "calls"
        and scope["method"] == "POST"
    ):
        return str(parts[3])
    return None
