"""Every metric: name, kind, unit, labels, buckets. The adapters make their instruments from this table."""

from dataclasses import dataclass
from typing import Final

from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.attributes import MetricKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric.

    Attributes:
        unit: as UCUM writes it: `s`, `By`, `1`, or an annotation such as `{call}`.
        labels: attribute names, in the order in which values are given. Never principal, run, operation, key or path.
        buckets: upper bounds of a histogram, ascending, without infinity.
    """

    name: str
    kind: MetricKind
    unit: str
    labels: tuple[str, ...]
    says: str
    buckets: tuple[float, ...] = ()


_CALL_BUCKETS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_HTTP_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_UTILIZATION_BUCKETS: Final = (0.1, 0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0)
_OVERRUN_BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
_WAIT_BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
_SIZE_BUCKETS: Final = (256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0)

_HISTOGRAM, _COUNTER, _GAUGE = MetricKind.HISTOGRAM, MetricKind.COUNTER, MetricKind.GAUGE


def _metric(
    name: str,
    kind: MetricKind,
    unit: str,
    labels: tuple[str, ...],
    says: str,
    buckets: tuple[float, ...] = (),
) -> Metric:
    return Metric(name=name, kind=kind, unit=unit, labels=labels, says=says, buckets=buckets)


TOOL_DURATION: Final = _metric(
    "gen_ai.execute_tool.duration",
    _HISTOGRAM,
    "s",
    (a.TOOL_NAME, a.TOOL_TYPE, a.ERROR_TYPE, a.IDEMPOTENCY_RESULT),
    "From the arrival of a call to its envelope; equals the span's duration.",
    _CALL_BUCKETS,
)
TOOL_CALLS: Final = _metric(
    "oncegate.tool.calls",
    _COUNTER,
    "{call}",
    (a.TOOL_NAME, a.OUTCOME, a.ERROR_CODE, a.EFFECT),
    "Envelopes given to callers, refusals included.",
)
TOOL_ATTEMPTS: Final = _metric(
    "oncegate.tool.attempts",
    _COUNTER,
    "{attempt}",
    (a.TOOL_NAME, a.ATTEMPT_KIND, a.DELIVERY, a.ERROR_TYPE),
    "Exchanges with a downstream, however far they came.",
)
CALLS_ACTIVE: Final = _metric(
    "oncegate.tool.calls.active",
    MetricKind.UP_DOWN,
    "{call}",
    (a.TOOL_NAME,),
    "Calls that have arrived and have no envelope yet.",
)
UTILIZATION: Final = _metric(
    "oncegate.attempt.timeout_utilization",
    _HISTOGRAM,
    "1",
    (a.TOOL_NAME,),
    "Duration of a sent attempt over the tool's read timeout.",
    _UTILIZATION_BUCKETS,
)
DEADLINE_OVERRUN: Final = _metric(
    "oncegate.deadline.overrun",
    _HISTOGRAM,
    "s",
    (a.TOOL_NAME,),
    "How far past the caller's deadline a call was answered; calls in time are not counted.",
    _OVERRUN_BUCKETS,
)
IDEMPOTENCY_LOOKUPS: Final = _metric(
    "oncegate.idempotency.lookups",
    _COUNTER,
    "{lookup}",
    (a.IDEMPOTENCY_RESULT,),
    "What calls met when they looked at their record; replayed is a duplicate prevented.",
)
FENCED: Final = _metric(
    "oncegate.operations.fenced",
    _COUNTER,
    "{operation}",
    (),
    "Marks and finishes that came from an owner who had lost the record.",
)
UNKNOWN: Final = _metric(
    "oncegate.operations.unknown",
    _GAUGE,
    "{operation}",
    (a.TOOL_NAME,),
    "Operations whose outcome nobody knows yet.",
)
UNKNOWN_AGE: Final = _metric(
    "oncegate.operations.unknown.oldest_age",
    _GAUGE,
    "s",
    (a.TOOL_NAME,),
    "Age of the oldest of them.",
)
RECONCILIATIONS: Final = _metric(
    "oncegate.reconciliations",
    _COUNTER,
    "{reconciliation}",
    (a.TOOL_NAME, a.RECONCILE_METHOD, a.RECONCILE_RESULT),
    "Looks into the world for an unknown outcome, and what they found.",
)
BREAKER: Final = _metric(
    "oncegate.breaker.state",
    _GAUGE,
    "{state}",
    (a.BREAKER_SCOPE,),
    "0 closed, 1 half open, 2 open.",
)
QUARANTINED: Final = _metric(
    "oncegate.tool.quarantined",
    _GAUGE,
    "{tool}",
    (a.TOOL_NAME,),
    "1 while a tool's MCP server shows another tool than the reviewed one and it is not called, 0 since it is again.",
)
BREAKER_TRANSITIONS: Final = _metric(
    "oncegate.breaker.transitions",
    _COUNTER,
    "{transition}",
    (a.BREAKER_SCOPE, a.BREAKER_FROM, a.BREAKER_TO),
    "Changes of a breaker's state.",
)
BULKHEAD_WAIT: Final = _metric(
    "oncegate.bulkhead.wait",
    _HISTOGRAM,
    "s",
    (a.TOOL_NAME,),
    "Wait for a slot of the tool's concurrency.",
    _WAIT_BUCKETS,
)
BULKHEAD_REJECTED: Final = _metric(
    "oncegate.bulkhead.rejected",
    _COUNTER,
    "{call}",
    (a.TOOL_NAME,),
    "Calls that got no slot.",
)
ROWS: Final = _metric(
    "oncegate.audit.records",
    _COUNTER,
    "{row}",
    (a.ROW_KIND,),
    "Execution rows that are durable; those of kind call equal the envelopes.",
)
ROW_FAILURES: Final = _metric(
    "oncegate.audit.failures",
    _COUNTER,
    "{row}",
    (a.ROW_KIND,),
    "Execution rows that could not be written.",
)
RESULT_SIZE: Final = _metric(
    "oncegate.result.size",
    _HISTOGRAM,
    "By",
    (a.TOOL_NAME,),
    "Bytes of the downstream's answer.",
    _SIZE_BUCKETS,
)
RESULT_TRUNCATED: Final = _metric(
    "oncegate.result.truncated",
    _COUNTER,
    "{result}",
    (a.TOOL_NAME,),
    "Results from which something was left out.",
)
COST: Final = _metric(
    "oncegate.tool.cost",
    _COUNTER,
    "{unit}",
    (a.TOOL_NAME, a.COST_UNIT),
    "Declared units of calls that were, or may have been, executed.",
)
MANIFEST_INFO: Final = _metric(
    "oncegate.manifest.info",
    _GAUGE,
    "",
    (a.TOOL_NAME, a.MANIFEST_VERSION, a.MANIFEST_DIGEST),
    "1 for each manifest in use.",
)
RELOADS: Final = _metric(
    "oncegate.config.reloads",
    _COUNTER,
    "{reload}",
    (a.RELOAD_RESULT,),
    "Attempts to take manifests, keys and issuers anew; rejected: one of them was not taken.",
)
HTTP_SERVER: Final = _metric(
    "http.server.request.duration",
    _HISTOGRAM,
    "s",
    (a.HTTP_METHOD, a.HTTP_ROUTE, a.HTTP_STATUS, a.ERROR_TYPE),
    "Requests to the gateway.",
    _HTTP_BUCKETS,
)
HTTP_CLIENT: Final = _metric(
    "http.client.request.duration",
    _HISTOGRAM,
    "s",
    (a.HTTP_METHOD, a.SERVER_ADDRESS, a.SERVER_PORT, a.HTTP_STATUS, a.ERROR_TYPE),
    "Attempts that were sent to a downstream.",
    _HTTP_BUCKETS,
)
TELEMETRY_FAILURES: Final = _metric(
    "oncegate.telemetry.failures",
    _COUNTER,
    "{failure}",
    (),
    "Faults of the telemetry itself; the calls they belong to went on.",
)

METRICS: Final = (
    TOOL_DURATION,
    TOOL_CALLS,
    TOOL_ATTEMPTS,
    CALLS_ACTIVE,
    UTILIZATION,
    DEADLINE_OVERRUN,
    IDEMPOTENCY_LOOKUPS,
    FENCED,
    UNKNOWN,
    UNKNOWN_AGE,
    RECONCILIATIONS,
    BREAKER,
    QUARANTINED,
    BREAKER_TRANSITIONS,
    BULKHEAD_WAIT,
    BULKHEAD_REJECTED,
    ROWS,
    ROW_FAILURES,
    RESULT_SIZE,
    RESULT_TRUNCATED,
    COST,
    MANIFEST_INFO,
    RELOADS,
    HTTP_SERVER,
    HTTP_CLIENT,
    TELEMETRY_FAILURES,
)
