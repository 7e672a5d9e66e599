"""Finished spans, handed to the SDK's batch processor.

A span is made once, when it ends, as the SDK's `ReadableSpan`: 4 us against 31 us for a span that is started, filled
and copied (`bench/micro_telemetry.py`). What is lost is what we do not use: processors that want to see a start,
attributes that change on the way, and the current span of a context.
"""

import logging
from collections.abc import Mapping
from typing import Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from gateway.adapters.otel.context import SpanName
from gateway.stages.monitor.attributes import LINK_TYPE
from gateway.stages.monitor.ports import LinkType

# The processor writes a warning for each span that its full queue drops: with a dead collector, one a call.
logging.getLogger("opentelemetry.sdk._shared_internal").setLevel(logging.ERROR)

AttributeValue = str | int | float | bool
Attributes = Mapping[str, AttributeValue]

_RECORDED: Final = TraceFlags(TraceFlags.SAMPLED)
_DROPPED: Final = TraceFlags(TraceFlags.DEFAULT)
_UNSET: Final = Status(StatusCode.UNSET)
_ERROR: Final = Status(StatusCode.ERROR)


class Place:
    """A span's place in its trace. The same object is the parent of the places below it."""

    __slots__ = ("_context", "links", "parent", "remote", "span", "tracestate")

    def __init__(
        self, span: SpanName, parent: "Place | None" = None, tracestate: str | None = None, *, remote: bool = False
    ) -> None:
        """`remote`: it is another process's span. `tracestate`: as it came in, already checked."""
        self.span = span
        self.parent = parent
        self.tracestate = tracestate
        self.remote = remote
        self.links: list[tuple[SpanName, LinkType]] = []
        self._context: SpanContext | None = None

    def context(self) -> SpanContext:
        """The SDK's name for it, made once."""
        if self._context is None:
            state = TraceState.from_header([self.tracestate]) if self.tracestate else None
            flags = _RECORDED if self.span.sampled else _DROPPED
            self._context = SpanContext(self.span.trace_id, self.span.span_id, self.remote, flags, state)
        return self._context


class SpanSink:
    """Takes finished spans; `on` is False when there is nowhere to send them."""

    __slots__ = ("_processor", "_resource", "_scope", "on")

    def __init__(self, processor: SpanProcessor | None, resource: Resource, version: str) -> None:
        self.on = processor is not None
        self._processor = processor
        self._resource = resource
        self._scope = InstrumentationScope("oncegate", version)

    def emit(
        self,
        name: str,
        kind: SpanKind,
        place: Place,
        attributes: Attributes,
        times: tuple[int, int],
        *,
        error: bool,
        said: str = "",
    ) -> None:
        """Queue one span; nothing happens when it is not sampled.

        Args:
            times: its start and end, ns since 1970.
            said: what went wrong, in gateway-owned words; of an error only.
        """
        if self._processor is None or not place.span.sampled:
            return
        parent = place.parent
        self._processor.on_end(
            ReadableSpan(
                name,
                place.context(),
                None if parent is None else parent.context(),
                self._resource,
                attributes,
                (),
                [_link(to, type_) for to, type_ in place.links],
                kind,
                None,
                _UNSET if not error else _ERROR if not said else Status(StatusCode.ERROR, said),
                *times,
                self._scope,
            )
        )

    def shutdown(self) -> None:
        """Export what is queued and stop. Waits as long as the exporter does."""
        if self._processor is not None:
            self._processor.shutdown()


def _link(to: SpanName, kind: LinkType) -> Link:
    return Link(Place(to, remote=True).context(), {LINK_TYPE: kind.value})
