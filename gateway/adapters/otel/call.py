"""One tool call: the span `execute_tool {tool}`, its metrics and, when it went wrong, its log line."""

import logging
from collections.abc import Mapping
from typing import Final

from opentelemetry.trace import SpanKind

from gateway.adapters.otel.attempt import MAYBE_SENT, Attempt
from gateway.adapters.otel.context import parse_traceparent
from gateway.adapters.otel.core import CALLS_LOG, NS_PER_S, Core, Words, guarded
from gateway.adapters.otel.reconcile import Reconcile
from gateway.adapters.otel.settings import LogCalls
from gateway.adapters.otel.spans import AttributeValue, Place
from gateway.contract.envelope import Envelope
from gateway.manifest.policies import Cost
from gateway.stages.execute.breaker.breaker import State
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.capture import captured
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE, LogField, LogFields
from gateway.stages.monitor.outcome import FAULTS, Outcome, charged, outcome_of
from gateway.stages.monitor.ports import (
    AttemptFacts,
    AttemptTrace,
    IdempotencyResult,
    LinkType,
    ReconcileMethod,
    ReconcileTrace,
)
from gateway.stages.monitor.silent import SilentAttempt, SilentReconcile

_TOOL_TYPE: Final = "extension"
_MAX_ID: Final = 128
"""Characters kept of an identifier that a caller chose."""


class Call:
    """A `CallTrace`."""

    __slots__ = ("_arguments", "_at", "_breaker", "_core", "_done", "_last", "_run_id", "_started", "_words")

    def __init__(self, core: Core, words: Words, at: Place, run_id: str | None, arrived_at: float | None) -> None:
        self._core = core
        self._words = words
        self._at = at
        self._run_id = run_id
        self._started = core.clock.monotonic() if arrived_at is None else arrived_at
        self._last: Attempt | None = None
        self._done = False
        self._breaker: State | None = None
        self._arguments: str | None = None
        core.active.add(words.labels)

    @property
    def trace_id(self) -> str:
        return self._at.span.trace_id_hex

    @property
    def traceparent(self) -> str:
        return self._at.span.traceparent

    def attempt(self, facts: AttemptFacts) -> AttemptTrace:
        try:
            self._last = Attempt(self._core, self._words, self._at, facts)
            return self._last
        except Exception as failure:  # noqa: BLE001 - telemetry never fails a call
            self._core.fault(failure)
            return SilentAttempt(self.traceparent, self._at.tracestate)

    def reconcile(self, method: ReconcileMethod) -> ReconcileTrace:
        try:
            span = self._core.namer.child(self._at.span)
            return Reconcile(self._core, self._words, Place(span, self._at, self._at.tracestate), method)
        except Exception as failure:  # noqa: BLE001 - telemetry never fails a call
            self._core.fault(failure)
            return SilentReconcile()

    @guarded
    def link(self, traceparent: str | None, kind: LinkType) -> None:
        there = parse_traceparent(traceparent)
        if there is not None:
            self._at.links.append((there, kind))

    @guarded
    def capture(self, arguments: Mapping[str, object]) -> None:
        tool = self._words.tool
        if self._core.settings.capture and tool is not None and tool.capture:
            self._arguments = captured(tool, arguments)

    @guarded
    def asked(self, breaker: State, *, waited_s: float | None = None, admitted: bool = False) -> None:
        self._breaker = breaker
        if waited_s is None:
            return
        self._core.waits.record(self._words.labels, waited_s)
        if not admitted:
            self._core.shed.add(self._words.labels)

    @guarded
    def ended(
        self,
        envelope: Envelope,
        *,
        idempotency: IdempotencyResult = IdempotencyResult.NONE,
        deadline_s: float | None = None,
        deadline_left_s: float | None = None,
        result_bytes: int | None = None,
        cost: Cost | None = None,
        user_hash: str | None = None,
    ) -> None:
        if self._done:
            return
        self._done = True
        outcome = outcome_of(envelope)
        elapsed = self._core.clock.monotonic() - self._started
        self._count(envelope, outcome, elapsed, idempotency)
        self._count_rest(envelope, deadline_left_s, result_bytes, cost)
        self._log(envelope, outcome, elapsed)
        if not self._core.sink.on or not self._at.span.sampled:
            return
        attributes = self._describe(envelope, outcome, idempotency)
        if self._breaker is not None:
            attributes[a.BREAKER_STATE] = self._breaker
        if deadline_s is not None:
            attributes[a.DEADLINE_BUDGET] = deadline_s
        if deadline_left_s is not None:
            attributes[a.DEADLINE_LEFT] = deadline_left_s
        if user_hash is not None:
            attributes[a.USER_HASH] = user_hash
        self._emit(attributes, elapsed, error=outcome in FAULTS)

    @guarded
    def abandoned(self) -> None:
        if self._done:
            return
        self._done = True
        self._core.active.add(self._words.labels, -1)
        elapsed = self._core.clock.monotonic() - self._started
        self._emit({**self._words.attributes, a.CALL_ABANDONED: True}, elapsed, error=False)

    def _count(self, envelope: Envelope, outcome: Outcome, elapsed: float, idempotency: IdempotencyResult) -> None:
        core, tool = self._core, self._words
        code = "" if envelope.error is None else envelope.error.code
        core.active.add(tool.labels, -1)
        core.calls.add((tool.name, outcome, code, tool.effect))
        error_type = code if outcome in FAULTS else ""
        core.tool_duration.record((tool.name, _TOOL_TYPE, error_type, idempotency), elapsed)
        if idempotency is not IdempotencyResult.NONE:
            core.lookups.add((idempotency,))

    def _count_rest(
        self, envelope: Envelope, deadline_left_s: float | None, result_bytes: int | None, cost: Cost | None
    ) -> None:
        core, tool = self._core, self._words
        if deadline_left_s is not None and deadline_left_s < 0:
            core.overrun.record(tool.labels, -deadline_left_s)
        if result_bytes is not None:
            core.result_size.record(tool.labels, result_bytes)
        if envelope.meta.truncated is not None:
            core.truncated.add(tool.labels)
        if cost is not None and charged(envelope):
            core.cost.add((tool.name, cost.unit), cost.per_call)

    def _describe(
        self, envelope: Envelope, outcome: Outcome, idempotency: IdempotencyResult
    ) -> dict[str, AttributeValue]:
        meta = envelope.meta
        attributes = self._words.attributes.copy()
        attributes[a.OUTCOME] = outcome
        attributes[a.IDEMPOTENCY_RESULT] = idempotency
        if self._run_id is not None:
            attributes[a.CONVERSATION_ID] = self._run_id[:_MAX_ID]
        if self._arguments is not None:
            attributes[a.TOOL_ARGUMENTS] = self._arguments
        if meta.operation_id is not None:
            attributes[a.OPERATION_ID] = meta.operation_id
        if meta.attempts:
            attributes[a.ATTEMPT_COUNT] = meta.attempts
        if self._last is not None:
            # Answered while the attempt still listens: its bytes may have left.
            attributes[a.DELIVERY] = self._last.delivery or MAYBE_SENT
        if meta.truncated is not None:
            attributes[a.RESULT_TRUNCATED] = True
        if envelope.error is not None:
            attributes[a.ERROR_CODE] = envelope.error.code
            if outcome in FAULTS:
                attributes[a.ERROR_TYPE] = envelope.error.code
        return attributes

    def _emit(self, attributes: dict[str, AttributeValue], elapsed: float, *, error: bool) -> None:
        started = self._core.ns(self._started)
        times = (started, started + int(elapsed * NS_PER_S))
        self._core.sink.emit(self._words.call_span, SpanKind.INTERNAL, self._at, attributes, times, error=error)

    def _log(self, envelope: Envelope, outcome: Outcome, elapsed: float) -> None:
        wanted = self._core.settings.log_calls
        failed = outcome in FAULTS
        if wanted is LogCalls.NONE or (wanted is LogCalls.PROBLEMS and not failed):
            return
        fields: LogFields = {
            LogField.TRACE_ID: self.trace_id,
            LogField.SPAN_ID: self._at.span.span_id_hex,
            LogField.OPERATION_ID: envelope.meta.operation_id,
            LogField.TOOL: self._words.name,
            LogField.OUTCOME: outcome.value,
            LogField.CODE: None if envelope.error is None else envelope.error.code.value,
            LogField.ATTEMPTS: envelope.meta.attempts,
            LogField.ELAPSED_MS: round(elapsed * 1000),
        }
        CALLS_LOG.log(logging.WARNING if failed else logging.INFO, "call ended", extra={RECORD_ATTRIBUTE: fields})
