"""What telemetry shows of a gateway: spans that ended, and the numbers of a scrape."""

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.adapters.system.clock import SystemClock
from tests.gateway.adapters.otel.scraped import read_scrape
from tests.gateway.pipeline.rig import Rig


class Spans:
    """A telemetry whose spans a test can read."""

    def __init__(self, settings: TelemetrySettings | None = None) -> None:
        self.exporter = InMemorySpanExporter()
        self.telemetry = OtelTelemetry(settings or TelemetrySettings(), SystemClock(), "0", spans=self.exporter)

    def named(self, prefix: str) -> list[ReadableSpan]:
        """Spans so far; ends the telemetry."""
        self.telemetry.close()
        return [span for span in self.exporter.get_finished_spans() if span.name.startswith(prefix)]

    def attributes(self, prefix: str) -> list[Mapping[str, Any]]:
        """Their attributes."""
        return [dict(span.attributes or {}) for span in self.named(prefix)]


def counted(gateway: Rig, family: str, **labels: str) -> float:
    """The sum of a metric's samples that have these labels."""
    scrape = read_scrape(gateway.pipeline.metrics())
    samples = [it for name, it in scrape.items() if family.startswith(name)]
    return sum(
        value
        for it in samples
        for (sample, pairs), value in it.samples.items()
        if sample == family and labels.items() <= dict(pairs).items()
    )
