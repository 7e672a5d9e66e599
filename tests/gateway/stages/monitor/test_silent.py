from gateway.contract.execution import RowKind
from gateway.stages.execute.attempt.outcome import NotSent
from gateway.stages.execute.breaker.breaker import State
from gateway.stages.monitor.ports import (
    AttemptFacts,
    AttemptKind,
    LinkType,
    ReconcileMethod,
    ReconcileResult,
    Telemetry,
)
from gateway.stages.monitor.silent import Silent
from tests.gateway.stages.monitor.samples import TOOL, ok

INBOUND = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
FACTS = AttemptFacts(number=1, kind=AttemptKind.FIRST, method="POST", server_address="pay.example", server_port=443)
NOT_SENT = NotSent(code="connect_failed", retryable=True)


def test_silence_is_a_telemetry() -> None:
    """Everything the port has can be done, and nothing comes of it."""
    telemetry: Telemetry = Silent()

    telemetry.request_started("POST", None).ended(200)
    call = telemetry.call_started(TOOL)
    call.link(INBOUND, LinkType.ORIGINAL_EXECUTION)
    call.capture({"order_id": "ORD-1"})
    call.asked(State.CLOSED, waited_s=0.1)
    call.attempt(FACTS).ended(None, NOT_SENT)
    inside = call.reconcile(ReconcileMethod.LOOKUP)
    inside.attempt(FACTS).ended(None, NOT_SENT)
    inside.ended(ReconcileResult.DONE)
    call.ended(ok())
    call.abandoned()
    telemetry.reconciliation_started(None, ReconcileMethod.LOOKUP, original=INBOUND).ended(ReconcileResult.NOT_DONE)
    telemetry.breaker_changed("payments", State.CLOSED, State.OPEN)
    telemetry.quarantined("act", held=True)
    telemetry.fenced()
    telemetry.rows_written(RowKind.CALL)
    telemetry.rows_failed(RowKind.CALL)
    telemetry.manifests_loaded([TOOL])
    telemetry.config_reloaded(accepted=True)
    telemetry.watch_unknown(dict)

    assert telemetry.render_prometheus() == b""
    assert (call.trace_id, inside.trace_id) == (None, None)


def test_trace_context_goes_through() -> None:
    """Without telemetry of our own the caller's context still reaches the downstream."""
    request = Silent().request_started("POST", None, traceparent=INBOUND, tracestate="a=1")
    call = Silent().call_started(TOOL, traceparent=request.traceparent, tracestate=request.tracestate)
    attempt = call.attempt(FACTS)

    assert (attempt.traceparent, attempt.tracestate) == (INBOUND, "a=1")
    assert call.traceparent == INBOUND
