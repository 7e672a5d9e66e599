"""Write the tables of `docs/telemetry.md`: `python -m docs.telemetry_tables`. A test fails while they are stale."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gateway.adapters.otel.prometheus import prometheus_name
from gateway.stages.monitor.attributes import ATTRIBUTES
from gateway.stages.monitor.metrics import METRICS, Metric

PAGE: Final = Path(__file__).parent / "telemetry.md"
BEGIN: Final = (
    "<!-- Made by `python -m docs.telemetry_tables`. Change the tables in gateway/stages/monitor, not these. -->"
)
END: Final = "<!-- End of what is made. -->"


def tables() -> str:
    """Spans' attributes and all metrics, as Markdown."""
    return "\n".join([BEGIN, "", *_attributes(), "", *_metrics(), "", END])


def with_tables(page: str) -> str:
    """The page with its tables made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + tables() + after


def _attributes() -> Iterator[str]:
    yield "## Attributes"
    yield ""
    yield "| attribute | on | values |"
    yield "|---|---|---|"
    for attribute in ATTRIBUTES:
        yield f"| `{attribute.name}` | {', '.join(attribute.on)} | {attribute.says} |"


def _metrics() -> Iterator[str]:
    yield "## Metrics"
    yield ""
    yield "| metric | in a scrape | kind, unit | labels | what it counts |"
    yield "|---|---|---|---|---|"
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels) or "none"
        yield f"| `{metric.name}` | `{prometheus_name(metric)}` | {_kind(metric)} | {labels} | {metric.says} |"
    yield ""
    yield "Buckets:"
    yield ""
    for metric in METRICS:
        if metric.buckets:
            yield f"- `{metric.name}`: {', '.join(f'{bound:g}' for bound in metric.buckets)}"


def _kind(metric: Metric) -> str:
    return f"{metric.kind}, `{metric.unit}`" if metric.unit else str(metric.kind)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
