"""What telemetry costs a read: CPU per call, best of 25 batches. Run: python bench/micro_telemetry.py"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from gateway.adapters.otel.instruments import Histogram
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.contract.call import Caller, ToolCall
from gateway.contract.canonical import canonical
from gateway.contract.envelope import Meta, succeed
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.manifest.policies import Effect
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Phase
from gateway.stages.execute.attempt.outcome import Done
from gateway.stages.execute.breaker.breaker import State
from gateway.stages.monitor.execution import Stamp, argument_hash, call_row
from gateway.stages.monitor.metrics import HTTP_CLIENT
from gateway.stages.monitor.ports import AttemptFacts, AttemptKind, Telemetry
from gateway.stages.monitor.silent import Silent

BATCHES: Final = 25
CALLS: Final = 2_000
INBOUND: Final = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
KEY: Final = b"k" * 32
ANSWER: Final = Answer(status=200, headers=(), body=b"{}")
EXCHANGE: Final = Exchange(phase=Phase.COMPLETE, answer=ANSWER, reused=True, elapsed_s=0.004)
DONE: Final = Done(status=200, answer=ANSWER)
CALLER: Final = Caller(subject="agent", tenant="acme")
ARGUMENTS: Final = {"order_id": "ORD-4471"}
CALL: Final = ToolCall(tool="lookup_order", arguments=ARGUMENTS, run_id="run-1", step=4)
ENVELOPE: Final = succeed({}, Meta(request_id="r", tool="lookup_order", run_id="run-1", step=4, attempts=1))
FACTS: Final = AttemptFacts(
    number=1,
    kind=AttemptKind.FIRST,
    method="GET",
    server_address="orders.example",
    server_port=443,
    url_template="/orders/{order_id}",
    timeout_s=5.0,
)


@dataclass(frozen=True, slots=True)
class BenchTool:
    name: str = "lookup_order"
    version: str = "1.0.0"
    digest: str = "sha256:0"
    effect: Effect = Effect.READ
    capture: tuple[str, ...] = ()
    sensitive: frozenset[str] = frozenset()


class RealClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nothing that is measured here sleeps for {seconds} s")


class Discard(SpanExporter):
    def export(self, spans: object) -> SpanExportResult:  # noqa: ARG002 - the exporter's signature
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        pass


TOOL: Final = BenchTool()


def a_read(telemetry: Telemetry) -> ExecutionRow:
    """Everything this stage does for one read: call and attempt, metrics, row. The envelope is made elsewhere."""
    trace = telemetry.call_started(TOOL, traceparent=INBOUND, run_id="run-1")
    trace.asked(State.CLOSED, waited_s=0.0, admitted=True)
    attempt = trace.attempt(FACTS)
    _ = attempt.traceparent
    attempt.ended(EXCHANGE, DONE)
    _ = trace.trace_id
    trace.ended(ENVELOPE, deadline_s=20.0, deadline_left_s=19.9, result_bytes=200)
    stamp = Stamp(row_id="0", at_wall=1.0, latency_s=0.004)
    hashed = argument_hash(canonical(ARGUMENTS), KEY)
    row = call_row(ENVELOPE, stamp, tool=TOOL, caller=CALLER, call=CALL, hashed_arguments=hashed)
    telemetry.rows_written(RowKind.CALL)
    return row


def measure(what: str, run: Callable[[], object]) -> None:
    """Print the best batch; CPU of all threads, the exporter's included."""
    best = float("inf")
    for _ in range(BATCHES):
        started = time.process_time()
        for _ in range(CALLS):
            run()
        best = min(best, (time.process_time() - started) / CALLS)
    print(f"{what:<58} {best * 1e6:6.1f} us")


def ours(settings: TelemetrySettings, *, exports: bool = True) -> OtelTelemetry:
    return OtelTelemetry(settings, RealClock(), "0", spans=Discard() if exports else None, random=Random(1))  # noqa: S311


def whole() -> None:
    print("one read: span, metrics, row (with an exporter that discards)")
    for what, telemetry in (
        ("call and attempt span", ours(TelemetrySettings())),
        ("call span only", ours(TelemetrySettings(attempt_spans=False))),
        ("no exporter: metrics and row only", ours(TelemetrySettings(), exports=False)),
    ):
        measure(what, lambda t=telemetry: a_read(t))  # type: ignore[misc]  # a default binds the loop's value
        telemetry.close()
    measure("no telemetry: row and its values only", lambda: a_read(Silent()))


def parts() -> None:
    print("why spans and instruments are our own")
    attributes = {f"oncegate.attribute{n}": "value" for n in range(12)}
    provider = TracerProvider()
    processor = BatchSpanProcessor(Discard())
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("bench")
    measure("SDK start_span(12 attributes).end()", lambda: tracer.start_span("s", attributes=attributes).end())
    context = tracer.start_span("s").get_span_context()
    measure(
        "ReadableSpan(12 attributes) to the same processor",
        lambda: processor.on_end(ReadableSpan("s", context, attributes=dict(attributes), resource=provider.resource)),
    )
    provider.shutdown()
    meter = MeterProvider(metric_readers=[InMemoryMetricReader()]).get_meter("bench")
    histogram = meter.create_histogram("h")
    labels = {"a": "1", "b": "2", "c": "3"}
    measure("SDK histogram.record", lambda: histogram.record(0.1, labels))
    own = Histogram(HTTP_CLIENT)
    measure("our histogram.record", lambda: own.record(("GET", "h", "443", "200", ""), 0.1))


if __name__ == "__main__":
    whole()
    parts()
