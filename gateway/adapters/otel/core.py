"""What all traces of one process share: instruments, span sink, names, clock, settings."""

import functools
import logging
from collections.abc import Callable
from random import Random
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

from gateway.adapters.otel.context import Namer, SpanName, parse_traceparent, parse_tracestate
from gateway.adapters.otel.instruments import Instruments
from gateway.adapters.otel.settings import InboundTrace, TelemetrySettings
from gateway.adapters.otel.spans import AttributeValue, Place, SpanSink
from gateway.adapters.otel.troubles import Troubles
from gateway.clock import Clock
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor import metrics as m
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE, LogField, LogFields
from gateway.stages.monitor.ports import LinkType, TracedTool

CALLS_LOG: Final = logging.getLogger("oncegate.calls")
EVENTS_LOG: Final = logging.getLogger("oncegate.events")
_TELEMETRY_LOG: Final = logging.getLogger("oncegate.telemetry")

NS_PER_S: Final = 1_000_000_000
_NO_EFFECT: Final = "none"


class Words:
    """Everything that is said of one tool, computed once."""

    __slots__ = ("attributes", "call_span", "effect", "labels", "name", "reconcile_span", "tool")

    def __init__(self, tool: TracedTool | None) -> None:
        self.tool = tool
        self.name = a.UNKNOWN_TOOL if tool is None else tool.name
        self.effect = _NO_EFFECT if tool is None else tool.effect.value
        self.labels = (self.name,)
        self.call_span = f"{a.TOOL_SPAN} {self.name}"
        self.reconcile_span = f"{a.RECONCILE_SPAN} {self.name}"
        self.attributes: dict[str, AttributeValue] = {
            a.OPERATION_NAME: a.TOOL_SPAN,
            a.TOOL_NAME: self.name,
            a.TOOL_TYPE: "extension",
            a.EFFECT: self.effect,
        }
        if tool is not None:
            self.attributes |= {a.MANIFEST_VERSION: tool.version, a.MANIFEST_DIGEST: tool.digest}


class Core:
    """Shared by the traces of one process; instruments of the hot path are at hand by name."""

    def __init__(self, settings: TelemetrySettings, clock: Clock, sink: SpanSink, random: Random) -> None:
        self.settings = settings
        self.clock = clock
        self.sink = sink
        self.namer = Namer(settings.sample_ratio, random)
        self.own_requests: set[str] = set()
        """`traceparent` of the SERVER spans that are open: a call that brings one is their child."""
        self.instruments = Instruments(int(clock.wall() * NS_PER_S))
        numbers, histogram = self.instruments.numbers, self.instruments.histogram
        self.calls = numbers(m.TOOL_CALLS)
        self.active = numbers(m.CALLS_ACTIVE)
        self.attempts = numbers(m.TOOL_ATTEMPTS)
        self.lookups = numbers(m.IDEMPOTENCY_LOOKUPS)
        self.reconciliations = numbers(m.RECONCILIATIONS)
        self.truncated = numbers(m.RESULT_TRUNCATED)
        self.cost = numbers(m.COST)
        self.shed = numbers(m.BULKHEAD_REJECTED)
        self.rows = numbers(m.ROWS)
        self.failures = numbers(m.TELEMETRY_FAILURES)
        self.tool_duration = histogram(m.TOOL_DURATION)
        self.client_duration = histogram(m.HTTP_CLIENT)
        self.server_duration = histogram(m.HTTP_SERVER)
        self.utilization = histogram(m.UTILIZATION)
        self.overrun = histogram(m.DEADLINE_OVERRUN)
        self.waits = histogram(m.BULKHEAD_WAIT)
        self.result_size = histogram(m.RESULT_SIZE)
        self.troubles = Troubles(clock)
        self._words: dict[str, Words] = {}
        self._unknown_tool = Words(None)

    def words(self, tool: TracedTool | None) -> Words:
        """What is said of `tool`. Kept by name: a new manifest of the same tool takes the old one's place."""
        if tool is None:
            return self._unknown_tool
        found = self._words.get(tool.name)
        if found is None or found.tool is not tool:
            found = self._words[tool.name] = Words(tool)
        return found

    def begin(self, traceparent: str | None, tracestate: str | None) -> Place:
        """The first span of a call or request whose caller sent these headers."""
        inbound = parse_traceparent(traceparent)
        mode = self.settings.inbound_trace
        if inbound is not None and traceparent in self.own_requests:
            return self._below(inbound, tracestate, remote=False)
        if inbound is None or mode is InboundTrace.IGNORE:
            return Place(self._root())
        if mode is InboundTrace.LINK:
            place = Place(self._root())
            place.links.append((inbound, LinkType.INBOUND))
            return place
        return self._below(inbound, tracestate, remote=True)

    def begin_linked(self, traceparent: str | None, kind: LinkType) -> Place:
        """The first span of a trace of its own that points to another."""
        place = Place(self._root())
        there = parse_traceparent(traceparent)
        if there is not None:
            place.links.append((there, kind))
        return place

    def _below(self, parent: SpanName, tracestate: str | None, *, remote: bool) -> Place:
        # Nothing is recorded here: the downstream's parent is then the caller's span, not one that nobody can find.
        span = self.namer.child(parent) if self.sink.on else parent
        state = parse_tracestate(tracestate)
        return Place(span, Place(parent, None, state, remote=remote), state)

    def _root(self) -> SpanName:
        root = self.namer.root()
        return root if self.sink.on else root._replace(sampled=False)

    def ns(self, monotonic: float) -> int:
        """A moment of the monotonic clock as ns since 1970."""
        return int((self.clock.wall() - self.clock.monotonic() + monotonic) * NS_PER_S)

    def fault(self, failure: Exception) -> None:
        """Count a fault of the telemetry itself, and say its class on the 1st, 2nd, 4th, 8th … time."""
        self.failures.add(())
        times = int(self.failures.points[()])
        if times & (times - 1) == 0:
            fields: LogFields = {LogField.EXCEPTION: type(failure).__name__, LogField.COUNT: times}
            _TELEMETRY_LOG.error("telemetry failed; the call went on", extra={RECORD_ATTRIBUTE: fields})


class _HasCore(Protocol):
    @property
    def _core(self) -> Core: ...


_S = TypeVar("_S", bound=_HasCore)
_P = ParamSpec("_P")


def guarded(method: Callable[Concatenate[_S, _P], None]) -> Callable[Concatenate[_S, _P], None]:
    """Of a method: whatever it raises is counted and goes no further. Telemetry never fails a call."""

    @functools.wraps(method)
    def guard(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as failure:  # noqa: BLE001 - there is no fault of telemetry that a call should see
            self._core.fault(failure)

    return guard
