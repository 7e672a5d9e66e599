"""What an operator may choose about telemetry."""

from dataclasses import dataclass
from enum import StrEnum


class InboundTrace(StrEnum):
    """What a caller's `traceparent` is to us."""

    PARENT = "parent"
    """Our span is its child and is recorded when it was."""
    LINK = "link"
    """Our trace is a new one that points to it: for callers whose sampling is not to be trusted."""
    IGNORE = "ignore"


class LogCalls(StrEnum):
    """Which calls leave a log line (each leaves an execution row, whatever this says)."""

    ALL = "all"
    PROBLEMS = "problems"
    """Those that ended as `error` or `unknown`."""
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySettings:
    """Telemetry of one process.

    Attributes:
        otlp_endpoint: base URL of an OTLP/HTTP receiver (`http://collector:4318`). None: the standard variables
            `OTEL_EXPORTER_OTLP_ENDPOINT`, `…_TRACES_ENDPOINT` and `…_METRICS_ENDPOINT` decide; without any of them
            nothing is exported.
        attempt_spans: one CLIENT span for each attempt. Off, the downstream's parent is the call's span.
        server_spans: one SERVER span for each HTTP request around its call.
        sample_ratio: share of the traces that begin here and are recorded, from 0 to 1.
        capture: put the arguments into spans that a manifest lists under `telemetry.capture`.
        metric_interval_s: seconds between two exports of the metrics.
        shutdown_s: seconds that a shutdown may wait for the last export.
    """

    otlp_endpoint: str | None = None
    attempt_spans: bool = True
    server_spans: bool = False
    inbound_trace: InboundTrace = InboundTrace.PARENT
    sample_ratio: float = 1.0
    log_calls: LogCalls = LogCalls.PROBLEMS
    capture: bool = False
    metric_interval_s: float = 60.0
    shutdown_s: float = 5.0
