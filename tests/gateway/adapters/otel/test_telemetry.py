import logging
import threading
from collections import Counter
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.contract.codes import ErrorCode
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.stages.execute.breaker.breaker import State
from gateway.stages.monitor.execution import Stamp, call_row
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE
from gateway.stages.monitor.outcome import outcome_of
from gateway.stages.monitor.ports import ReconcileMethod, ReconcileResult, Telemetry, UnknownOperations
from tests.clocks import ManualClock
from tests.gateway.adapters.otel.scraped import read_scrape
from tests.gateway.adapters.otel.traced import COMPLETE, DONE, FIRST, INBOUND, traced
from tests.gateway.stages.monitor.samples import CALLER, READ, TOOL, failed, ok

PATIENCE_S = 20.0


class Broken(SpanExporter):
    """Raises, once per export."""

    def __init__(self) -> None:
        self.tried = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - the exporter's signature
        self.tried.set()
        raise ConnectionError("secret-in-an-exception")


class Stuck(SpanExporter):
    """Takes the first batch and never returns until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.entered = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - the exporter's signature
        self.entered.set()
        self.let_go.wait(PATIENCE_S)
        return SpanExportResult.SUCCESS


class BrokenClock(ManualClock):
    """Fails when it is told to, as any part of telemetry might."""

    broken = False

    def monotonic(self) -> float:
        if self.broken:
            raise RuntimeError("secret-in-an-exception")
        return super().monotonic()


def _one_call(telemetry: Telemetry) -> None:
    request = telemetry.request_started("POST", "/v1/tools/{tool}/calls", traceparent=INBOUND)
    call = telemetry.call_started(TOOL, traceparent=request.traceparent)
    call.attempt(FIRST).ended(COMPLETE, DONE)
    call.reconcile(ReconcileMethod.LOOKUP).ended(ReconcileResult.DONE)
    call.ended(ok())
    telemetry.call_started(TOOL).abandoned()
    later = telemetry.reconciliation_started(TOOL, ReconcileMethod.LOOKUP, original=INBOUND)
    later.attempt(FIRST).ended(COMPLETE, DONE)
    later.ended(ReconcileResult.DONE)
    request.ended(200)


def test_an_exporter_that_raises_fails_no_call(caplog: pytest.LogCaptureFixture) -> None:
    """Calls go on, numbers are kept, and the shutdown is orderly."""
    exporter = Broken()
    telemetry = OtelTelemetry(TelemetrySettings(), ManualClock(), "0.1", spans=exporter)
    _one_call(telemetry)
    assert telemetry.close()

    assert exporter.tried.is_set()
    assert b'oncegate_tool_calls_total{gen_ai_tool_name="issue_refund",oncegate_outcome="ok"' in (
        telemetry.render_prometheus()
    )
    assert "Exception while exporting" in caplog.text


def test_an_exporter_that_hangs_slows_no_call_and_holds_up_no_shutdown() -> None:
    """Calls are queued and then dropped, never waited for; the end waits for as long as it may."""
    exporter = Stuck()
    telemetry = OtelTelemetry(TelemetrySettings(shutdown_s=0.01), ManualClock(), "0.1", spans=exporter)
    for _ in range(3_000):
        telemetry.call_started(TOOL).ended(ok())
    assert exporter.entered.wait(PATIENCE_S)

    assert telemetry.close() is False
    exporter.let_go.set()


def test_a_fault_anywhere_in_the_telemetry_fails_no_call(caplog: pytest.LogCaptureFixture) -> None:
    """Every way in is tried with a clock that raises: the faults are counted, and their texts appear nowhere."""
    clock = BrokenClock()
    telemetry = OtelTelemetry(TelemetrySettings(server_spans=True), clock, "0.1")
    started = telemetry.call_started(TOOL, traceparent=INBOUND, tracestate="a=1")
    inside = started.reconcile(ReconcileMethod.LOOKUP)
    clock.broken = True
    _one_call(telemetry)
    attempt = started.attempt(FIRST)
    attempt.ended(COMPLETE, DONE)
    started.reconcile(ReconcileMethod.LOOKUP).ended(ReconcileResult.DONE)
    inside.attempt(FIRST).ended(COMPLETE, DONE)
    inside.ended(ReconcileResult.DONE)
    started.ended(ok())
    clock.broken = False

    assert attempt.traceparent == INBOUND
    failures = read_scrape(telemetry.render_prometheus())["oncegate_telemetry_failures_total"].samples
    assert sum(failures.values()) >= 8
    counts = [vars(record)[RECORD_ATTRIBUTE]["count"] for record in caplog.records if "telemetry failed" in record.msg]
    assert counts == [1, 2, 4, 8]
    assert "secret-in-an-exception" not in caplog.text


def test_unknown_tools_are_one_series() -> None:
    """10,000 calls of tools that no manifest has leave the series of one."""
    with traced(TelemetrySettings(), exports=False) as it:
        for _ in range(10_000):
            it.telemetry.call_started(None).ended(failed(ErrorCode.UNKNOWN_TOOL, attempts=0))
        calls = it.scrape()["oncegate_tool_calls_total"].samples

    ((_, labels),) = calls
    assert dict(labels)["gen_ai_tool_name"] == "_unknown"
    assert set(calls.values()) == {10_000}


def test_metrics_rows_and_envelopes_agree() -> None:
    """After a scripted set of calls each outcome was counted as often as it was given and written down."""
    script = [
        *[(TOOL, ok())] * 5,
        *[(TOOL, ok(replayed=True))] * 3,
        *[(READ, ok())] * 4,
        *[(READ, failed(ErrorCode.CONNECT_FAILED, attempts=0))] * 2,
        *[(TOOL, failed(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME))] * 2,
        *[(TOOL, failed(ErrorCode.FORBIDDEN, attempts=0))],
        *[(None, failed(ErrorCode.UNKNOWN_TOOL, attempts=0))],
    ]
    rows: list[ExecutionRow] = []
    with traced() as it:
        for tool, envelope in script:
            it.telemetry.call_started(tool).ended(envelope)
            stamp = Stamp(row_id=str(len(rows)), at_wall=0.0)
            rows.append(call_row(envelope, stamp, tool=tool, caller=CALLER, call=None))
            it.telemetry.rows_written(rows[-1].kind)
        scraped = it.scrape()
        spans = it.spans()

    metrics: Counter[tuple[str, str]] = Counter()
    for (_, labels), value in scraped["oncegate_tool_calls_total"].samples.items():
        metrics[dict(labels)["gen_ai_tool_name"], dict(labels).get("oncegate_error_code", "")] += int(value)
    assert metrics == Counter((row.tool, row.code or "") for row in rows)
    assert scraped["oncegate_audit_records_total"].samples == {
        ("oncegate_audit_records_total", (("oncegate_row_kind", "call"),)): len(script)
    }
    outcomes = Counter(outcome_of(envelope).value for _, envelope in script)
    assert Counter((span.attributes or {})["oncegate.outcome"] for span in spans) == outcomes


def test_rows_and_fences_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    """Rows that could not be written are an error in the log as well."""
    with traced() as it:
        it.telemetry.rows_written(RowKind.CALL, 20)
        it.telemetry.rows_written(RowKind.SETTLEMENT)
        it.telemetry.rows_failed(RowKind.CALL, 2)
        it.telemetry.fenced()

        assert it.value("oncegate_audit_records_total", oncegate_row_kind="call") == 20
        assert it.value("oncegate_audit_records_total", oncegate_row_kind="settlement") == 1
        assert it.value("oncegate_audit_failures_total", oncegate_row_kind="call") == 2
        assert it.value("oncegate_operations_fenced_total") == 1
    assert [record.msg for record in caplog.records] == ["execution rows not written"]


def test_a_breaker_shows_its_state_and_its_changes(caplog: pytest.LogCaptureFixture) -> None:
    """Opening is a warning."""
    caplog.set_level(logging.INFO)
    with traced() as it:
        it.telemetry.breaker_changed("payments", State.CLOSED, State.OPEN)
        assert it.value("oncegate_breaker_state", oncegate_breaker_scope="payments") == 2
        it.telemetry.breaker_changed("payments", State.OPEN, State.HALF_OPEN)
        assert it.value("oncegate_breaker_state", oncegate_breaker_scope="payments") == 1
        it.telemetry.breaker_changed("payments", State.HALF_OPEN, State.CLOSED)
        assert it.value("oncegate_breaker_state", oncegate_breaker_scope="payments") == 0

        assert it.value("oncegate_breaker_transitions_total", oncegate_breaker_to="open") == 1
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO", "INFO"]


def test_a_quarantined_tool_is_a_number() -> None:
    """1 while it is held, 0 when it is called again."""
    with traced() as it:
        it.telemetry.quarantined("act", held=True)
        assert it.value("oncegate_tool_quarantined", gen_ai_tool_name="act") == 1
        it.telemetry.quarantined("act", held=False)
        assert it.value("oncegate_tool_quarantined", gen_ai_tool_name="act") == 0


def test_manifests_in_use_are_shown_and_old_ones_gone() -> None:
    """A reload replaces the set."""
    with traced() as it:
        it.telemetry.manifests_loaded([TOOL, READ])
        it.telemetry.manifests_loaded(iter([READ]))

        assert it.value("oncegate_manifest_info") == 1
        assert it.value("oncegate_manifest_info", gen_ai_tool_name="lookup_order") == 1


def test_reloads_are_counted_by_result(caplog: pytest.LogCaptureFixture) -> None:
    """A refused configuration is an error in the log."""
    with traced() as it:
        it.telemetry.config_reloaded(accepted=True)
        it.telemetry.config_reloaded(accepted=False)

        assert it.value("oncegate_config_reloads_total", oncegate_reload_result="accepted") == 1
        assert it.value("oncegate_config_reloads_total", oncegate_reload_result="rejected") == 1
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert told == [("ERROR", "manifests, keys and issuers read again")]


def test_unknown_operations_are_asked_for_at_each_scrape() -> None:
    """A tool without any shows 0, so that an alert can tell none from no data."""
    unknown = {"issue_refund": UnknownOperations(count=2, oldest_age_s=90.0)}
    with traced() as it:
        it.telemetry.manifests_loaded([TOOL, READ])
        it.telemetry.watch_unknown(lambda: unknown)

        assert it.value("oncegate_operations_unknown", gen_ai_tool_name="issue_refund") == 2
        assert it.value("oncegate_operations_unknown_oldest_age_seconds", gen_ai_tool_name="issue_refund") == 90
        assert it.value("oncegate_operations_unknown", gen_ai_tool_name="lookup_order") == 0
        unknown.clear()
        assert it.value("oncegate_operations_unknown", gen_ai_tool_name="issue_refund") == 0


def _failing() -> dict[str, UnknownOperations]:
    raise LookupError


def test_a_scrape_survives_a_reader_that_fails() -> None:
    """The other numbers are there, the last unknown count stays, and the fault is counted."""
    with traced() as it:
        it.telemetry.watch_unknown(lambda: {"issue_refund": UnknownOperations(count=2, oldest_age_s=1.0)})
        it.scrape()
        it.telemetry.watch_unknown(_failing)

        assert it.value("oncegate_operations_unknown", gen_ai_tool_name="issue_refund") == 2
        assert (it.value("oncegate_telemetry_failures_total") or 0) >= 1


def test_a_scrape_says_what_is_scraped() -> None:
    """Service name and version are on target_info."""
    with traced() as it:
        assert it.value("target_info", service_name="oncegate", service_version="0.1") == 1
