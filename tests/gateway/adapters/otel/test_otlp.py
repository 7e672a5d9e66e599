import asyncio
import socket
import threading
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import (
    Gauge,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    Sum,
)
from opentelemetry.sdk.metrics.export import Histogram as HistogramData
from opentelemetry.sdk.resources import Resource
from oteltap import OtelTapHttpProtobufReceiver, OtelTapHttpProtobufReceiverSettings

from gateway.adapters.otel.instruments import Instruments
from gateway.adapters.otel.otlp import MetricPump, metrics_data
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry, open_telemetry
from gateway.stages.monitor import metrics as m
from gateway.stages.monitor.ports import LinkType, ReconcileMethod, ReconcileResult
from tests.clocks import ManualClock
from tests.gateway.adapters.otel.traced import BUSY, COMPLETE, DONE, FIRST, INBOUND, PARENT, REFUSED, TRACE
from tests.gateway.stages.monitor.samples import TOOL, ok
from tests.waiting import turns

RESOURCE = Resource({"service.name": "oncegate"})
PATIENCE_S = 20.0


class Exporter(MetricExporter):
    """Keeps what it is given, after raising as often as it was told to."""

    def __init__(self, *, raises: int = 0) -> None:
        super().__init__()
        self.given: list[MetricsData] = []
        self.raises = raises
        self.exported = threading.Event()

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: Any) -> MetricExportResult:  # noqa: ARG002 - the exporter's signature
        self.given.append(metrics_data)
        self.exported.set()
        if len(self.given) <= self.raises:
            raise ConnectionError("collector down")
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis: float = 10_000) -> bool:  # noqa: ARG002 - the exporter's signature
        return True

    def shutdown(self, timeout_millis: float = 30_000, **_: Any) -> None:
        pass


def _data(instruments: Instruments) -> dict[str, Sum | Gauge | HistogramData]:
    (resource,) = metrics_data(instruments, RESOURCE, "0.1", 200).resource_metrics
    (scope,) = resource.scope_metrics
    found: dict[str, Sum | Gauge | HistogramData] = {}
    for metric in scope.metrics:
        assert isinstance(metric.data, Sum | Gauge | HistogramData)
        found[metric.name] = metric.data
    return found


def test_only_metrics_with_a_point_are_sent() -> None:
    """A fresh process has nothing to say."""
    assert _data(Instruments(100)) == {}


def test_counters_gauges_and_histograms_keep_their_kind() -> None:
    """Cumulative since the start; only counters are monotonic; ports and statuses are numbers."""
    instruments = Instruments(100)
    instruments.numbers(m.TOOL_CALLS).add(("a", "ok", "", "read"), 3)
    instruments.numbers(m.CALLS_ACTIVE).add(("a",), 1)
    instruments.numbers(m.UNKNOWN).set(("a",), 2)
    instruments.histogram(m.HTTP_CLIENT).record(("GET", "h", "443", "200", ""), 0.3)

    data = _data(instruments)

    calls, active = data["oncegate.tool.calls"], data["oncegate.tool.calls.active"]
    assert isinstance(calls, Sum)
    assert isinstance(active, Sum)
    assert (calls.is_monotonic, active.is_monotonic) == (True, False)
    (point,) = calls.data_points
    assert (point.value, point.start_time_unix_nano, point.time_unix_nano) == (3, 100, 200)
    assert isinstance(data["oncegate.operations.unknown"], Gauge)
    histogram = data["http.client.request.duration"]
    assert isinstance(histogram, HistogramData)
    (spread,) = histogram.data_points
    assert (spread.count, spread.sum, list(spread.explicit_bounds)) == (1, 0.3, list(m.HTTP_CLIENT.buckets))
    assert spread.attributes == {
        "http.request.method": "GET",
        "server.address": "h",
        "server.port": 443,
        "http.response.status_code": 200,
    }


def test_a_pump_sends_at_intervals_and_once_at_the_end() -> None:
    """Without an interval gone by, the end alone sends."""
    exporter = Exporter()
    pump = MetricPump(exporter, lambda: MetricsData(resource_metrics=[]), interval_s=3600.0)
    pump.shutdown(PATIENCE_S)
    assert len(exporter.given) == 1

    often = Exporter()
    pump = MetricPump(often, lambda: MetricsData(resource_metrics=[]), interval_s=0.001)
    assert often.exported.wait(PATIENCE_S)
    pump.shutdown(PATIENCE_S)
    assert len(often.given) >= 2


def test_an_exporter_that_raises_does_not_end_the_pump(caplog: pytest.LogCaptureFixture) -> None:
    """The next export is tried, and the log names the class of the failure and not its text."""
    exporter = Exporter(raises=1)
    pump = MetricPump(exporter, lambda: MetricsData(resource_metrics=[]), interval_s=0.001)
    while len(exporter.given) < 2:
        exporter.exported.clear()
        assert exporter.exported.wait(PATIENCE_S)
    pump.shutdown(PATIENCE_S)

    assert "metrics not exported" in caplog.text
    assert "collector down" not in caplog.text


def test_the_interval_of_the_export_is_the_operators() -> None:
    """A short one sends while the process runs; a long one leaves it to the end."""
    often, seldom = Exporter(), Exporter()
    running = [
        OtelTelemetry(TelemetrySettings(metric_interval_s=interval_s), ManualClock(), "0.1", metrics=exporter)
        for interval_s, exporter in ((0.001, often), (3600.0, seldom))
    ]
    assert often.exported.wait(PATIENCE_S)
    assert seldom.given == []

    assert all(telemetry.close() for telemetry in running)
    assert len(seldom.given) == 1


async def test_a_real_receiver_gets_the_whole_tree_and_the_metrics() -> None:
    """Over HTTP and protobuf: call below its caller, attempts and reconciliation below the call, links and sums."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with OtelTapHttpProtobufReceiver(OtelTapHttpProtobufReceiverSettings(http_port=port)) as tap:
        spans = asyncio.gather(*(tap.await_trace(_named(name), PATIENCE_S) for name in NAMES))
        calls = asyncio.ensure_future(tap.await_metric(lambda metric: metric.name == "oncegate.tool.calls", PATIENCE_S))
        await turns()
        await asyncio.to_thread(_one_call, f"http://127.0.0.1:{port}")
        call, busy, done, inside = await spans
        counted = await calls

    assert (call.trace_id.hex(), call.parent_span_id.hex()) == (TRACE, PARENT)
    assert {span.parent_span_id for span in (busy, done, inside)} == {call.span_id}
    assert call.links[0].trace_id.hex() == TRACE
    assert (busy.status.code, done.status.code) == (2, 0)
    assert counted.sum.data_points[0].as_double + counted.sum.data_points[0].as_int == 1


NAMES = (
    ("execute_tool issue_refund", None),
    ("POST /refunds", "503"),
    ("POST /refunds", ""),
    ("reconcile issue_refund", None),
)


def _named(wanted: tuple[str, str | None]) -> Any:
    name, error = wanted

    def matches(span: Any) -> bool:
        errors = [a.value.string_value for a in span.attributes if a.key == "error.type"]
        return bool(span.name == name and (error is None or errors == ([error] if error else [])))

    return matches


def _one_call(endpoint: str) -> None:
    telemetry = open_telemetry(TelemetrySettings(otlp_endpoint=endpoint), ManualClock(), "0.1", {})
    call = telemetry.call_started(TOOL, traceparent=INBOUND)
    call.attempt(FIRST).ended(BUSY, REFUSED)
    call.attempt(FIRST).ended(COMPLETE, DONE)
    call.reconcile(ReconcileMethod.LOOKUP).ended(ReconcileResult.DONE)
    call.link(INBOUND, LinkType.ORIGINAL_EXECUTION)
    call.ended(ok())
    assert telemetry.close()
