"""One exchange with a downstream: a CLIENT span, and the numbers that show how near its timeout it came."""

from collections.abc import Mapping
from typing import Final, assert_never

from opentelemetry.trace import SpanKind

from gateway.adapters.otel.core import EVENTS_LOG, Core, Words, guarded
from gateway.adapters.otel.spans import AttributeValue, Place
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Phase
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE, LogField, LogFields
from gateway.stages.monitor.ports import AttemptFacts

NOT_SENT: Final = "not_sent"
MAYBE_SENT: Final = "maybe_sent"
ANSWERED: Final = "answered"

_FAILED_STATUS: Final = 400
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"})
_PHASES: Final[Mapping[Phase, str]] = {phase: phase.name.lower() for phase in Phase}


def known_method(method: str) -> str:
    """The method, or `_OTHER`: what a peer writes never becomes a series."""
    return method if method in _METHODS else a.OTHER_METHOD


def delivery_of(exchange: Exchange | None, outcome: Outcome) -> str:
    """How far the request came, in the three words that matter."""
    if exchange is not None:
        if exchange.phase < Phase.SENT:
            return NOT_SENT
        return ANSWERED if exchange.phase >= Phase.HEADERS else MAYBE_SENT
    match outcome:
        case NotSent():
            return NOT_SENT
        case Refused() | Done():
            return ANSWERED
        case Unknown():
            return MAYBE_SENT
        case _:
            assert_never(outcome)


def error_type_of(exchange: Exchange | None, outcome: Outcome) -> str:
    """The fault, or the status from 400 on, or the outcome's code; empty when nothing went wrong."""
    if exchange is not None and exchange.fault is not None:
        return exchange.fault
    status = _status(exchange)
    if status is not None and status >= _FAILED_STATUS:
        return str(status)
    return outcome.code or ""


def _status(exchange: Exchange | None) -> int | None:
    return None if exchange is None or exchange.answer is None else exchange.answer.status


class Attempt:
    """An `AttemptTrace`. Without a span of its own it stands in its parent's."""

    __slots__ = ("_core", "_facts", "_own_span", "_place", "_started", "_words", "delivery")

    def __init__(self, core: Core, words: Words, parent: Place, facts: AttemptFacts) -> None:
        self._core = core
        self._words = words
        self._facts = facts
        self._started = core.clock.monotonic()
        self._own_span = core.settings.attempt_spans and core.sink.on
        self._place = Place(core.namer.child(parent.span), parent, parent.tracestate) if self._own_span else parent
        self.delivery: str | None = None

    @property
    def traceparent(self) -> str:
        return self._place.span.traceparent

    @property
    def tracestate(self) -> str | None:
        return self._place.tracestate

    @guarded
    def ended(self, exchange: Exchange | None, outcome: Outcome) -> None:
        if self.delivery is None:
            self.delivery = delivery_of(exchange, outcome)
            self._end(exchange, error_type_of(exchange, outcome), self.delivery)

    def _end(self, exchange: Exchange | None, error_type: str, delivery: str) -> None:
        core, facts, tool = self._core, self._facts, self._words
        elapsed = core.clock.monotonic() - self._started
        core.attempts.add((tool.name, facts.kind, delivery, error_type))
        if delivery is not NOT_SENT:
            status = _status(exchange)
            labels = (
                known_method(facts.method),
                facts.server_address,
                str(facts.server_port),
                str(status or ""),
                error_type,
            )
            core.client_duration.record(labels, elapsed)
            if facts.timeout_s:
                core.utilization.record(tool.labels, elapsed / facts.timeout_s)
        if exchange is not None and exchange.fault is not None:
            self._log(exchange, exchange.fault)
        if self._own_span and self._place.span.sampled:
            self._emit(exchange, error_type, delivery, elapsed)

    def _log(self, exchange: Exchange, fault: Fault) -> None:
        core, span = self._core, self._place.span
        count = core.troubles.met(self._words.name, fault)
        if count == 0:
            return
        fields: LogFields = {
            LogField.TRACE_ID: span.trace_id_hex,
            LogField.SPAN_ID: span.span_id_hex,
            LogField.TOOL: self._words.name,
            LogField.KIND: self._facts.kind.value,
            LogField.COUNT: count,
        }
        words = (_PHASES[exchange.phase], fault.value, exchange.detail or "no more is known")
        EVENTS_LOG.warning("attempt failed in transport (%s, %s): %s", *words, extra={RECORD_ATTRIBUTE: fields})

    def _emit(self, exchange: Exchange | None, error_type: str, delivery: str, elapsed: float) -> None:
        facts, started = self._facts, self._core.ns(self._started)
        method = known_method(facts.method)
        attributes: dict[str, AttributeValue] = {
            a.HTTP_METHOD: method,
            a.SERVER_ADDRESS: facts.server_address,
            a.SERVER_PORT: facts.server_port,
            a.ATTEMPT_NUMBER: facts.number,
            a.ATTEMPT_KIND: facts.kind,
            a.DELIVERY: delivery,
        }
        if facts.number > 1:
            attributes[a.HTTP_RESEND_COUNT] = facts.number - 1
        if facts.url_template is not None:
            attributes[a.URL_TEMPLATE] = facts.url_template
        if facts.retry_delay_s is not None:
            attributes[a.RETRY_DELAY] = facts.retry_delay_s
        if error_type:
            attributes[a.ERROR_TYPE] = error_type
        if exchange is not None:
            attributes[a.ATTEMPT_PHASE] = _PHASES[exchange.phase]
            attributes[a.ATTEMPT_REUSED] = exchange.reused
            if exchange.answer is not None and exchange.answer.status:
                attributes[a.HTTP_STATUS] = exchange.answer.status
        name = method if facts.url_template is None else f"{method} {facts.url_template}"
        times = (started, started + int(elapsed * 1e9))
        said = "" if exchange is None else exchange.detail
        self._core.sink.emit(name, SpanKind.CLIENT, self._place, attributes, times, error=bool(error_type), said=said)
