"""A telemetry under a test's hand: its clock, what it exported, and the facts of ordinary attempts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Phase
from gateway.stages.execute.attempt.outcome import Done, NotSent, Refused, Unknown
from gateway.stages.monitor.ports import AttemptFacts, AttemptKind
from tests.clocks import ManualClock
from tests.gateway.adapters.otel.scraped import read_scrape

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
INBOUND = f"00-{TRACE}-{PARENT}-01"
UNSAMPLED = f"00-{TRACE}-{PARENT}-00"

FIRST = AttemptFacts(
    number=1,
    kind=AttemptKind.FIRST,
    method="POST",
    server_address="pay.example",
    server_port=443,
    url_template="/refunds",
    timeout_s=5.0,
)
ANSWER = Answer(status=200, headers=(("set-cookie", "x"),), body=b"{}")
COMPLETE = Exchange(phase=Phase.COMPLETE, answer=ANSWER, reused=True)
DONE = Done(status=200, answer=ANSWER)
BUSY = Exchange(phase=Phase.COMPLETE, answer=Answer(status=503, headers=(), body=b""))
REFUSED = Refused(code="unavailable", status=503, retryable=True)
SILENT = Exchange(phase=Phase.SENT, fault=Fault.READ_TIMEOUT)
UNKNOWN = Unknown(code="timeout_unknown_outcome")
UNREACHED = Exchange(phase=Phase.CONNECTING, fault=Fault.CONNECT_FAILED)
NOT_SENT = NotSent(code="connect_failed", retryable=True)


class Traced:
    """An `OtelTelemetry` whose spans stay in memory."""

    def __init__(self, settings: TelemetrySettings, *, exports: bool = True) -> None:
        self.clock = ManualClock()
        self.exporter = InMemorySpanExporter()
        exporter = self.exporter if exports else None
        self.telemetry = OtelTelemetry(settings, self.clock, "0.1", spans=exporter, random=Random(7))  # noqa: S311

    def spans(self) -> list[ReadableSpan]:
        """All spans so far, in the order in which they ended; closes the telemetry."""
        self.telemetry.close()
        return list(self.exporter.get_finished_spans())

    def only_span(self) -> ReadableSpan:
        """The one span there is."""
        (span,) = self.spans()
        return span

    def value(self, family: str, **labels: str) -> float | None:
        """One sample of a scrape by the labels that are given; None when there is no such sample."""
        name = next(n for n in (family.removesuffix(s) for s in ("_count", "_sum", "")) if n in self.scrape())
        found = [
            value
            for (sample, pairs), value in self.scrape()[name].samples.items()
            if sample == family and labels.items() <= dict(pairs).items()
        ]
        assert len(found) <= 1, found
        return found[0] if found else None

    def scrape(self) -> Mapping[str, Any]:
        """The present scrape, strictly read."""
        return read_scrape(self.telemetry.render_prometheus())


@contextmanager
def traced(settings: TelemetrySettings | None = None, *, exports: bool = True) -> Iterator[Traced]:
    """A telemetry that is closed at the end."""
    made = Traced(settings or TelemetrySettings(), exports=exports)
    try:
        yield made
    finally:
        made.telemetry.close()
