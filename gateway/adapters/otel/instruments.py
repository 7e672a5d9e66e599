"""Counters, gauges and histograms as plain dictionaries, made from the table of metrics.

The SDK's instruments cost 14 to 15 us a number, these under 1 us (`bench/micro_telemetry.py`). Both exports, `/metrics` and
OTLP, read the same dictionaries. They are written from the loop's thread and read from any: a reader copies a
dictionary in one step, and a histogram's count is the sum of its buckets, so that what it reads is consistent.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

from gateway.stages.monitor.attributes import MetricKind
from gateway.stages.monitor.metrics import METRICS, Metric

MAX_SERIES: Final = 2000
"""Sets of label values a metric may have; what comes after is counted under `OVERFLOW`."""
OVERFLOW: Final = "_overflow"

Labels = tuple[str, ...]


class Numbers:
    """A counter, an up-down counter or a gauge: one number for each set of label values."""

    __slots__ = ("_overflow", "metric", "points")

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.points: dict[Labels, float] = {}
        self._overflow = (OVERFLOW,) * len(metric.labels)

    def add(self, labels: Labels, amount: float = 1) -> None:
        """Count. `labels` in the order of `metric.labels`; an empty value is a label that is not there."""
        points = self.points
        before = points.get(labels)
        if before is None:
            self._new(labels, points.get(self._overflow, 0) + amount, amount)
        else:
            points[labels] = before + amount

    def set(self, labels: Labels, value: float) -> None:
        """Say what the value is now."""
        if labels in self.points:
            self.points[labels] = value
        else:
            self._new(labels, value, value)

    def replace(self, points: Mapping[Labels, float]) -> None:
        """Say what all values are now; those that are not named are gone."""
        self.points = dict(list(points.items())[:MAX_SERIES])

    def _new(self, labels: Labels, in_overflow: float, alone: float) -> None:
        if len(self.points) < MAX_SERIES:
            self.points[labels] = alone
        else:
            self.points[self._overflow] = in_overflow


class Histogram:
    """For each set of label values: the count of each bucket, the count beyond the last, and the sum, in one list."""

    __slots__ = ("_buckets", "_overflow", "metric", "points")

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.points: dict[Labels, list[float]] = {}
        self._buckets = metric.buckets
        self._overflow = (OVERFLOW,) * len(metric.labels)

    def record(self, labels: Labels, value: float) -> None:
        """Count `value` in its bucket (bounds are inclusive) and add it to the sum."""
        point = self.points.get(labels)
        if point is None:
            point = self._new(labels)
        point[bisect_left(self._buckets, value)] += 1
        point[-1] += value

    def _new(self, labels: Labels) -> list[float]:
        if len(self.points) >= MAX_SERIES:
            labels = self._overflow
        return self.points.setdefault(labels, [0] * (len(self._buckets) + 2))


class Instruments:
    """One instrument for each metric of the table."""

    __slots__ = ("all", "start_ns")

    def __init__(self, start_ns: int) -> None:
        """`start_ns`: since 1970, from when on is counted."""
        self.start_ns = start_ns
        self.all: dict[str, Numbers | Histogram] = {
            metric.name: Histogram(metric) if metric.kind is MetricKind.HISTOGRAM else Numbers(metric)
            for metric in METRICS
        }

    def numbers(self, metric: Metric) -> Numbers:
        """The counter or gauge of `metric`.

        Raises:
            TypeError: it is a histogram.
        """
        found = self.all[metric.name]
        if not isinstance(found, Numbers):
            raise TypeError(f"{metric.name} is a histogram")
        return found

    def histogram(self, metric: Metric) -> Histogram:
        """The histogram of `metric`.

        Raises:
            TypeError: it is none.
        """
        found = self.all[metric.name]
        if not isinstance(found, Histogram):
            raise TypeError(f"{metric.name} is no histogram")
        return found
