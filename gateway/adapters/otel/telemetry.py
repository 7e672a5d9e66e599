"""OpenTelemetry behind the monitor's port: spans by OTLP, metrics by OTLP and at `/metrics`."""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from random import Random, SystemRandom
from typing import Final

from opentelemetry.sdk.metrics.export import MetricExporter, MetricsData
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from gateway.adapters.otel.call import Call
from gateway.adapters.otel.core import EVENTS_LOG, NS_PER_S, Core, guarded
from gateway.adapters.otel.exporters import describe, metric_exporter, span_exporter
from gateway.adapters.otel.otlp import MetricPump, metrics_data
from gateway.adapters.otel.prometheus import render
from gateway.adapters.otel.reconcile import Reconcile
from gateway.adapters.otel.request import Request
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.spans import SpanSink
from gateway.clock import Clock
from gateway.contract.execution import RowKind
from gateway.stages.execute.breaker.breaker import State
from gateway.stages.monitor import metrics as m
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE, LogField, LogFields
from gateway.stages.monitor.ports import (
    CallTrace,
    LinkType,
    ReconcileMethod,
    ReconcileTrace,
    RequestTrace,
    TracedTool,
    UnknownOperations,
)
from gateway.stages.monitor.silent import SilentCall, SilentReconcile, SilentRequest

_STATES: Final[Mapping[State, int]] = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}


def _log(level: int, sentence: str, fields: LogFields) -> None:
    EVENTS_LOG.log(level, sentence, extra={RECORD_ATTRIBUTE: fields})


class OtelTelemetry:
    """A `Telemetry`. Make it with `open_telemetry`, end it with `close`."""

    def __init__(
        self,
        settings: TelemetrySettings,
        clock: Clock,
        version: str,
        *,
        spans: SpanExporter | None = None,
        metrics: MetricExporter | None = None,
        random: Random | None = None,
    ) -> None:
        """Exporters given here are used as they are; None exports nothing. `random` names spans."""
        self._resource = describe(version)
        self._version = version
        processor = None if spans is None else BatchSpanProcessor(spans)
        self._sink = SpanSink(processor, self._resource, version)
        # Seeded by the system: replicas started in the same instant must not draw the same trace ids.
        drawn = Random(SystemRandom().getrandbits(128)) if random is None else random  # noqa: S311 - no secret
        self._core = Core(settings, clock, self._sink, drawn)
        self._numbers = self._core.instruments.numbers
        self._read_unknown: Callable[[], Mapping[str, UnknownOperations]] = dict
        self._tools: tuple[str, ...] = ()
        self._pump = None if metrics is None else MetricPump(metrics, self._collect, settings.metric_interval_s)

    def request_started(
        self, method: str, route: str | None, *, traceparent: str | None = None, tracestate: str | None = None
    ) -> RequestTrace:
        try:
            return Request(self._core, method, route, (traceparent, tracestate))
        except Exception as failure:  # noqa: BLE001 - telemetry never fails a request
            self._core.fault(failure)
            return SilentRequest(traceparent, tracestate)

    def call_started(
        self,
        tool: TracedTool | None,
        *,
        traceparent: str | None = None,
        tracestate: str | None = None,
        run_id: str | None = None,
        arrived_at: float | None = None,
    ) -> CallTrace:
        core = self._core
        try:
            return Call(core, core.words(tool), core.begin(traceparent, tracestate), run_id, arrived_at)
        except Exception as failure:  # noqa: BLE001 - telemetry never fails a call
            core.fault(failure)
            return SilentCall(traceparent, tracestate)

    def reconciliation_started(
        self, tool: TracedTool | None, method: ReconcileMethod, *, original: str | None
    ) -> ReconcileTrace:
        core = self._core
        try:
            return Reconcile(core, core.words(tool), core.begin_linked(original, LinkType.RECONCILES), method)
        except Exception as failure:  # noqa: BLE001 - telemetry never fails a reconciliation
            core.fault(failure)
            return SilentReconcile()

    @guarded
    def breaker_changed(self, scope: str, was: State, now: State) -> None:
        self._numbers(m.BREAKER).set((scope,), _STATES[now])
        self._numbers(m.BREAKER_TRANSITIONS).add((scope, was.value, now.value))
        fields: LogFields = {LogField.SCOPE: scope, LogField.WAS: was.value, LogField.NOW: now.value}
        _log(logging.WARNING if now is State.OPEN else logging.INFO, "circuit breaker changed", fields)

    @guarded
    def quarantined(self, tool: str, *, held: bool) -> None:
        self._numbers(m.QUARANTINED).set((tool,), int(held))

    @guarded
    def fenced(self) -> None:
        self._numbers(m.FENCED).add(())

    @guarded
    def rows_written(self, kind: RowKind, count: int = 1) -> None:
        self._core.rows.add((kind,), count)

    @guarded
    def rows_failed(self, kind: RowKind, count: int = 1) -> None:
        self._numbers(m.ROW_FAILURES).add((kind.value,), count)
        fields: LogFields = {LogField.KIND: kind.value, LogField.COUNT: count}
        _log(logging.ERROR, "execution rows not written", fields)

    @guarded
    def manifests_loaded(self, tools: Iterable[TracedTool]) -> None:
        in_use = tuple(tools)
        self._tools = tuple(tool.name for tool in in_use)
        self._numbers(m.MANIFEST_INFO).replace({(tool.name, tool.version, tool.digest): 1 for tool in in_use})

    @guarded
    def config_reloaded(self, *, accepted: bool) -> None:
        result = "accepted" if accepted else "rejected"
        self._numbers(m.RELOADS).add((result,))
        _log(
            logging.INFO if accepted else logging.ERROR,
            "manifests, keys and issuers read again",
            {LogField.RESULT: result},
        )

    def watch_unknown(self, read: Callable[[], Mapping[str, UnknownOperations]]) -> None:
        self._read_unknown = read

    def render_prometheus(self) -> bytes:
        self._ask_unknown()
        resource = {name: str(value) for name, value in self._resource.attributes.items()}
        return render(self._core.instruments, resource)

    def close(self) -> bool:
        """Export what is left, for at most `shutdown_s`. False when that was too short.

        Blocks: from a loop, call it in a thread.
        """
        deadline = self._core.settings.shutdown_s
        ended = threading.Thread(target=self._sink.shutdown, name="oncegate-spans-shutdown", daemon=True)
        started = self._core.clock.monotonic()
        ended.start()
        if self._pump is not None:
            self._pump.shutdown(deadline)
        ended.join(max(0.0, deadline - (self._core.clock.monotonic() - started)))
        return not ended.is_alive()

    def _collect(self) -> MetricsData:
        self._ask_unknown()
        now_ns = int(self._core.clock.wall() * NS_PER_S)
        return metrics_data(self._core.instruments, self._resource, self._version, now_ns)

    def _ask_unknown(self) -> None:
        try:
            found = self._read_unknown()
            counts: dict[tuple[str, ...], float] = {(tool,): 0 for tool in self._tools}
            ages = dict(counts)
            counts |= {(tool,): unknown.count for tool, unknown in found.items()}
            ages |= {(tool,): unknown.oldest_age_s for tool, unknown in found.items()}
        except Exception as failure:  # noqa: BLE001 - a scrape without this number is better than none
            self._core.fault(failure)
            return
        self._numbers(m.UNKNOWN).replace(counts)
        self._numbers(m.UNKNOWN_AGE).replace(ages)


def open_telemetry(
    settings: TelemetrySettings, clock: Clock, version: str, environ: Mapping[str, str] = os.environ
) -> OtelTelemetry:
    """Telemetry of this process, exporting where the settings or OpenTelemetry's own variables say."""
    return OtelTelemetry(
        settings,
        clock,
        version,
        spans=span_exporter(settings.otlp_endpoint, environ),
        metrics=metric_exporter(settings.otlp_endpoint, environ),
    )
