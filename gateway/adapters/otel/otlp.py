"""The instruments as OTLP metrics, sent every so often from a thread of their own."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.export import Histogram as HistogramData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from gateway.adapters.otel.instruments import Histogram, Instruments, Labels, Numbers
from gateway.stages.monitor.attributes import HTTP_STATUS, SERVER_PORT, MetricKind
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE, LogField

_LOG: Final = logging.getLogger("oncegate.telemetry")
_WHOLE: Final = frozenset({HTTP_STATUS, SERVER_PORT})
"""Attributes that are integers in the conventions; as labels they are text like all others."""
_SINCE_START: Final = AggregationTemporality.CUMULATIVE


def metrics_data(instruments: Instruments, resource: Resource, version: str, now_ns: int) -> MetricsData:
    """Every metric that has a point, since `instruments.start_ns`."""
    times = (instruments.start_ns, now_ns)
    metrics = [
        Metric(name=i.metric.name, description=i.metric.says, unit=i.metric.unit, data=_data(i, times))
        for i in instruments.all.values()
        if i.points
    ]
    scope = ScopeMetrics(scope=InstrumentationScope("oncegate", version), metrics=metrics, schema_url="")
    return MetricsData(resource_metrics=[ResourceMetrics(resource=resource, scope_metrics=[scope], schema_url="")])


def _data(instrument: Numbers | Histogram, times: tuple[int, int]) -> Sum | Gauge | HistogramData:
    if isinstance(instrument, Histogram):
        points = [
            HistogramDataPoint(
                attributes=_attributes(instrument, labels),
                start_time_unix_nano=times[0],
                time_unix_nano=times[1],
                count=int(sum(point[:-1])),
                sum=point[-1],
                bucket_counts=[int(count) for count in point[:-1]],
                explicit_bounds=instrument.metric.buckets,
                **_NO_EXTREMES,
            )
            for labels, point in ((labels, point.copy()) for labels, point in instrument.points.copy().items())
        ]
        return HistogramData(data_points=points, aggregation_temporality=_SINCE_START)
    numbers = _numbers(instrument, times)
    if instrument.metric.kind is MetricKind.GAUGE:
        return Gauge(data_points=numbers)
    counts_up = instrument.metric.kind is MetricKind.COUNTER
    return Sum(data_points=numbers, aggregation_temporality=_SINCE_START, is_monotonic=counts_up)


# OTLP allows a histogram without least and greatest value; the SDK's class does not say so.
_NO_EXTREMES: Final[dict[str, Any]] = {"min": None, "max": None}


def _numbers(instrument: Numbers, times: tuple[int, int]) -> Sequence[NumberDataPoint]:
    return [
        NumberDataPoint(
            attributes=_attributes(instrument, labels),
            start_time_unix_nano=times[0],
            time_unix_nano=times[1],
            value=value,
        )
        for labels, value in instrument.points.copy().items()
    ]


def _attributes(instrument: Numbers | Histogram, labels: Labels) -> dict[str, str | int]:
    named = zip(instrument.metric.labels, labels, strict=True)
    return {name: int(value) if name in _WHOLE and value.isdigit() else value for name, value in named if value}


class MetricPump:
    """Sends what `collect` returns, every `interval_s` seconds and once at the end. A failed export is skipped."""

    def __init__(self, exporter: MetricExporter, collect: Callable[[], MetricsData], interval_s: float) -> None:
        self._exporter = exporter
        self._collect = collect
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oncegate-metrics", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            self._export()
        self._export()

    def _export(self) -> None:
        try:
            self._exporter.export(self._collect())
        except Exception as failure:  # noqa: BLE001 - whatever an exporter raises, the next export is tried
            name = type(failure).__name__
            _LOG.warning("metrics not exported", extra={RECORD_ATTRIBUTE: {LogField.EXCEPTION: name}})

    def shutdown(self, timeout_s: float) -> None:
        """Export once more and stop, waiting at most `timeout_s`."""
        self._stop.set()
        self._thread.join(timeout_s)
        # Breaks off an export that is still waiting for its next try.
        self._exporter.shutdown(timeout_millis=0)
