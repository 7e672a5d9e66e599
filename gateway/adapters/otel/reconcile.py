"""One look into the world for an unknown outcome: inside its call, or a trace of its own that points to the call."""

import logging

from opentelemetry.trace import SpanKind

from gateway.adapters.otel.attempt import Attempt
from gateway.adapters.otel.core import EVENTS_LOG, NS_PER_S, Core, Words, guarded
from gateway.adapters.otel.spans import AttributeValue, Place
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE, LogField, LogFields
from gateway.stages.monitor.ports import AttemptFacts, AttemptTrace, ReconcileMethod, ReconcileResult
from gateway.stages.monitor.silent import SilentAttempt


class Reconcile:
    """A `ReconcileTrace`."""

    __slots__ = ("_at", "_core", "_done", "_method", "_started", "_words")

    def __init__(self, core: Core, words: Words, at: Place, method: ReconcileMethod) -> None:
        self._core = core
        self._words = words
        self._at = at
        self._method = method
        self._started = core.clock.monotonic()
        self._done = False

    @property
    def trace_id(self) -> str:
        return self._at.span.trace_id_hex

    def attempt(self, facts: AttemptFacts) -> AttemptTrace:
        try:
            return Attempt(self._core, self._words, self._at, facts)
        except Exception as failure:  # noqa: BLE001 - telemetry never fails a reconciliation
            self._core.fault(failure)
            return SilentAttempt()

    @guarded
    def ended(self, result: ReconcileResult, *, operation_id: str | None = None) -> None:
        if self._done:
            return
        self._done = True
        core, tool = self._core, self._words
        core.reconciliations.add((tool.name, self._method, result))
        self._log(result, operation_id)
        attributes: dict[str, AttributeValue] = {
            a.TOOL_NAME: tool.name,
            a.RECONCILE_METHOD: self._method.value,
            a.RECONCILE_RESULT: result.value,
        }
        if operation_id is not None:
            attributes[a.OPERATION_ID] = operation_id
        started = core.ns(self._started)
        times = (started, started + int((core.clock.monotonic() - self._started) * NS_PER_S))
        core.sink.emit(tool.reconcile_span, SpanKind.INTERNAL, self._at, attributes, times, error=False)

    def _log(self, result: ReconcileResult, operation_id: str | None) -> None:
        settled = result in {ReconcileResult.DONE, ReconcileResult.NOT_DONE}
        fields: LogFields = {
            LogField.TRACE_ID: self.trace_id,
            LogField.SPAN_ID: self._at.span.span_id_hex,
            LogField.OPERATION_ID: operation_id,
            LogField.TOOL: self._words.name,
            LogField.METHOD: self._method.value,
            LogField.RESULT: result.value,
        }
        level = logging.INFO if settled else logging.WARNING
        EVENTS_LOG.log(level, "reconciliation ended", extra={RECORD_ATTRIBUTE: fields})
