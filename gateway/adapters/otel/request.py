"""One HTTP request to the gateway: a duration, and a SERVER span where the operator wants one."""

from typing import Final

from opentelemetry.trace import SpanKind

from gateway.adapters.otel.attempt import known_method
from gateway.adapters.otel.core import NS_PER_S, Core, guarded
from gateway.adapters.otel.spans import AttributeValue, Place
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.ports import McpFacts

_FAULT_STATUS: Final = 500
"""From here on a status is the server's own failure (HTTP conventions)."""


class Request:
    """A `RequestTrace`. Without a span of its own it passes on what came in."""

    __slots__ = ("_at", "_core", "_done", "_method", "_route", "_started", "traceparent", "tracestate")

    def __init__(self, core: Core, method: str, route: str | None, inbound: tuple[str | None, str | None]) -> None:
        self._core = core
        self._method = known_method(method)
        self._route = route or ""
        self._started = core.clock.monotonic()
        self._done = False
        self._at: Place | None = None
        self.traceparent, self.tracestate = inbound
        if core.settings.server_spans and core.sink.on:
            self._at = core.begin(*inbound)
            self.traceparent, self.tracestate = self._at.span.traceparent, self._at.tracestate
            core.own_requests.add(self.traceparent)

    @guarded
    def ended(self, status: int, mcp: McpFacts | None = None) -> None:
        if self._done:
            return
        self._done = True
        elapsed = self._core.clock.monotonic() - self._started
        error_type = str(status) if status >= _FAULT_STATUS else ""
        self._core.server_duration.record((self._method, self._route, str(status), error_type), elapsed)
        if self._at is None:
            return
        self._core.own_requests.discard(self._at.span.traceparent)
        attributes: dict[str, AttributeValue] = {a.HTTP_METHOD: self._method, a.HTTP_STATUS: status}
        if self._route:
            attributes[a.HTTP_ROUTE] = self._route
        if error_type:
            attributes[a.ERROR_TYPE] = error_type
        if mcp is not None:
            attributes |= _told(mcp)
        name = f"{self._method} {self._route}" if self._route else self._method
        started = self._core.ns(self._started)
        times = (started, started + int(elapsed * NS_PER_S))
        self._core.sink.emit(name, SpanKind.SERVER, self._at, attributes, times, error=bool(error_type))


def _told(mcp: McpFacts) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {a.MCP_METHOD: mcp.method, a.MCP_VERSION: mcp.version}
    if mcp.message_id is not None:
        attributes[a.MESSAGE_ID] = mcp.message_id
    return attributes
