"""The Prometheus text format, version 0.0.4, of all instruments.

Names follow OpenTelemetry's mapping: dots become underscores, the unit is spelled out at the end, counters end in
`_total`. Labels without a value are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway.adapters.otel.instruments import Histogram, Instruments, Labels, Numbers
from gateway.stages.monitor.attributes import MetricKind
from gateway.stages.monitor.metrics import Metric

_UNITS: Final[Mapping[str, str]] = {"s": "_seconds", "By": "_bytes", "1": "_ratio"}
_TYPES: Final[Mapping[MetricKind, str]] = {
    MetricKind.COUNTER: "counter",
    MetricKind.UP_DOWN: "gauge",
    MetricKind.GAUGE: "gauge",
    MetricKind.HISTOGRAM: "histogram",
}
_NOT_A_NAME: Final = re.compile(r"[^a-zA-Z0-9_]")


def prometheus_name(metric: Metric) -> str:
    """The name of the metric's family in a scrape (a histogram's samples add `_bucket`, `_sum`, `_count`)."""
    name = _name(metric.name) + _UNITS.get(metric.unit, "")
    return name + "_total" if metric.kind is MetricKind.COUNTER else name


def render(instruments: Instruments, resource: Mapping[str, str]) -> bytes:
    """The body of a scrape. Every metric has its HELP and TYPE, also before it has a sample."""
    lines = [
        "# HELP target_info What is being scraped.",
        "# TYPE target_info gauge",
        f"target_info{_braces(resource.items())} 1",
    ]
    for instrument in instruments.all.values():
        metric, name = instrument.metric, prometheus_name(instrument.metric)
        lines.append(f"# HELP {name} {_help(metric.says)}")
        lines.append(f"# TYPE {name} {_TYPES[metric.kind]}")
        if isinstance(instrument, Numbers):
            lines.extend(_number_lines(name, instrument))
        else:
            lines.extend(_histogram_lines(name, instrument))
    lines.append("")
    return "\n".join(lines).encode()


def _number_lines(name: str, instrument: Numbers) -> Iterator[str]:
    for labels, value in instrument.points.copy().items():
        yield f"{name}{_braces(_pairs(instrument.metric, labels))} {_number(value)}"


def _histogram_lines(name: str, instrument: Histogram) -> Iterator[str]:
    bounds = [*map(_number, instrument.metric.buckets), "+Inf"]
    for labels, point in instrument.points.copy().items():
        pairs = list(_pairs(instrument.metric, labels))
        *counts, total = point.copy()
        seen: float = 0
        for bound, count in zip(bounds, counts, strict=True):
            seen += count
            yield f"{name}_bucket{_braces([*pairs, ('le', bound)])} {_number(seen)}"
        yield f"{name}_sum{_braces(pairs)} {_number(total)}"
        yield f"{name}_count{_braces(pairs)} {_number(seen)}"


def _pairs(metric: Metric, labels: Labels) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in zip(metric.labels, labels, strict=True) if value)


def _braces(pairs: Iterable[tuple[str, str]]) -> str:
    inside = ",".join(f'{_name(name)}="{_escape(value)}"' for name, value in pairs)
    return f"{{{inside}}}" if inside else ""


def _name(name: str) -> str:
    return _NOT_A_NAME.sub("_", name)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
