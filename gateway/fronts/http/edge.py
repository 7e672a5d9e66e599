"""The outermost application: bounds every request, and lets no failure out bare. Tool calls come to it past ASGI."""

import itertools
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import fail
from gateway.contract.requests import StartRefusedError
from gateway.fronts.http.answers import Answer, Refusal, answer_of, send_answer
from gateway.fronts.http.calls import CallEndpoint
from gateway.fronts.http.client import Client
from gateway.fronts.http.head import Incoming, now, read_head, trace_context
from gateway.fronts.http.ports import Requests
from gateway.stages.monitor.ports import McpFacts, RequestTrace

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

    async def answer(self, incoming: Incoming, client: Client) -> int:
        """Answer one request, and say with which status; 0 for no answer, the client being gone."""
        ...

    def refused(self, refusal: Refusal, incoming: Incoming) -> Answer:
        """A request whose head is refused, or that failed without an answer."""
        ...


def request_ids(prefix: str) -> Iterator[str]:
    """Unique in this process; `prefix` keeps processes apart."""
    for number in itertools.count(1):
        yield prefix + format(number, "08x")


class Edge:
    """`router` serves every route, over ASGI. A connection brings tool calls and messages to `mcp` past it, by `call`.

    `template_of` names the route of a path; `requests` watches; `start` and `stop` bracket the application's life.

    Attributes:
        unfit: why `start` refused the store or a manifest, in a sentence; None: it did not.
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
        self.unfit: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def call(self, tool: str | None, headers: Iterable[tuple[bytes, bytes]], client: Client) -> None:
        """Answer one tool call; without a `tool` it is a message to `mcp`."""
        incoming = self._incoming()
        trace: RequestTrace | None = None
        status = 0
        try:
            trace = self._begin(incoming, "POST", MCP_ROUTE if tool is None else CALLS_ROUTE, headers)
            status = await self._called(tool, incoming, client)
        except Exception as error:  # noqa: BLE001 - told and logged by `_failed`
            answer = self._failed(incoming, error, beside=tool is None)
            status = answer.status
            await client.answer(answer)
        finally:
            if trace is not None:
                trace.ended(status or _CLIENT_CLOSED, incoming.mcp)

    async def _called(self, tool: str | None, incoming: Incoming, client: Client) -> int:
        if tool is not None:
            return await self._calls.answer(incoming, tool, client)
        if self.mcp is None:
            raise Refusal(ErrorCode.ROUTE_NOT_FOUND)
        return await self.mcp.answer(incoming, client)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = self._incoming()
        sender = _Sender(send)
        trace: RequestTrace | None = None
        try:
            _refuse_escapes(scope["raw_path"])
            trace = self._begin(incoming, scope["method"], self._template_of(scope["path"]), scope["headers"])
            scope["oncegate"] = incoming
            await self._router(scope, receive, sender)
        except Exception as error:  # noqa: BLE001 - told and logged by `_failed`
            answer = self._failed(incoming, error, beside=scope["path"] == MCP_ROUTE and scope["method"] == "POST")
            if not sender.status:
                await send_answer(sender, answer)
        finally:
            if trace is not None:
                trace.ended(sender.status or _CLIENT_CLOSED, incoming.mcp)

    def _incoming(self) -> Incoming:
        return Incoming(next(self._ids), now(), {})

    def _begin(
        self, incoming: Incoming, method: str, route: str | None, headers: Iterable[tuple[bytes, bytes]]
    ) -> RequestTrace:
        """Read the head and begin to watch.

        Raises:
            Refusal: see `read_head`.
        """
        incoming.head = read_head(headers, max_bytes=self._bounds.header_bytes, hosts=self._bounds.hosts)
        parent, state = trace_context(incoming.head)
        trace = self._requests.request_started(method, route, traceparent=parent, tracestate=state)
        incoming.trace = trace.traceparent, trace.tracestate
        return trace

    def _failed(self, incoming: Incoming, error: Exception, *, beside: bool) -> Answer:
        """What is said of a request that came to no answer of its own; `beside`: in the words of `mcp`."""
        mcp = self.mcp if beside else None
        if isinstance(error, Refusal) and mcp is not None:
            return mcp.refused(error, incoming)
        meta = incoming.meta(now())
        if isinstance(error, Refusal):
            return answer_of(error.envelope(meta), error.headers)
        logger.error("a request failed in the front", exc_info=error, extra={"request_id": incoming.request_id})
        if mcp is not None:
            # What `mcp` was asked may have been done by then, and is not told as "nothing was sent".
            return mcp.refused(Refusal(ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME), incoming)
        return answer_of(fail(ErrorCode.GATEWAY_ERROR, meta))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._start()
        except Exception as error:
            if isinstance(error, StartRefusedError):
                self.unfit = str(error)
                logger.error("the gateway does not start: %s", self.unfit)  # noqa: TRY400 - it is a sentence, and says all
            else:
                logger.exception("the gateway did not start", exc_info=error)
            # Told above. What stood here the server would log as it stands, and an exception's text may be anybody's.
            await send({"type": "lifespan.startup.failed", "message": ""})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        try:
            await self._stop()
        except Exception as error:
            logger.exception("the gateway did not stop cleanly", exc_info=error)
            await send({"type": "lifespan.shutdown.failed", "message": ""})
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

    def ended(self, status: int, mcp: McpFacts | None = None) -> None:
        """Nobody watched."""


def _refuse_escapes(path: bytes) -> None:
    """No path of ours needs an escape, so each route has one spelling and no other way in.

    Raises:
        Refusal: `route_not_found`.
    """
    if b"%" in path:
        raise Refusal(ErrorCode.ROUTE_NOT_FOUND)
