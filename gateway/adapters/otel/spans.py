"""Finished spans, handed to the SDK's batch processor.

A span is made once, when it ends, as the SDK's `ReadableSpan`: 4 us against 31 us for a span that is started, filled
and copied (`bench/micro_telemetry.py`). What is lost is what we do not use: processors that want to see a start,
attributes that change on the way, and the current span of a context.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
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


class Kind(Enum):
    """Which side of which boundary a span stands on."""

    CALL = SpanKind.INTERNAL
    ATTEMPT = SpanKind.CLIENT
    REQUEST = SpanKind.SERVER


@dataclass(frozen=True, slots=True)
class Place:
    """Where a span stands in its trace.

    Attributes:
        span: its own name.
        parent: None for a root.
        remote: the parent is another process's.
        tracestate: as it came in, already checked.
        links: to spans of other traces.
    """

    span: SpanName
    parent: SpanName | None
    remote: bool = False
    tracestate: str | None = None
    links: Sequence[tuple[SpanName, LinkType]] = ()


class SpanSink:
    """Takes finished spans; `on` is False when there is nowhere to send them."""

    __slots__ = ("_processor", "_resource", "_scope", "on")

    def __init__(self, processor: SpanProcessor | None, resource: Resource, version: str) -> None:
        self.on = processor is not None
        self._processor = processor
        self._resource = resource
        self._scope = InstrumentationScope("oncegate", version)

    def emit(
        self, name: str, kind: Kind, place: Place, attributes: Attributes, times: tuple[int, int], *, error: bool
    ) -> None:
        """Queue one span; `times` are its start and end, ns since 1970. Nothing happens when it is not sampled."""
        if self._processor is None or not place.span.sampled:
            return
        state = TraceState.from_header([place.tracestate]) if place.tracestate else None
        parent = place.parent
        self._processor.on_end(
            ReadableSpan(
                name,
                SpanContext(place.span.trace_id, place.span.span_id, False, _RECORDED, state),
                None if parent is None else _context(parent, remote=place.remote),
                self._resource,
                attributes,
                (),
                [Link(_context(to, remote=True), {LINK_TYPE: type_.value}) for to, type_ in place.links],
                kind.value,
                None,
                _ERROR if error else _UNSET,
                *times,
                self._scope,
            )
        )

    def shutdown(self) -> None:
        """Export what is queued and stop. Waits as long as the exporter does."""
        if self._processor is not None:
            self._processor.shutdown()


def _context(name: SpanName, *, remote: bool) -> SpanContext:
    return SpanContext(name.trace_id, name.span_id, remote, _RECORDED if name.sampled else _DROPPED)
