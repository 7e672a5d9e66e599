import logging

import pytest
from opentelemetry.trace import SpanKind

from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE
from gateway.stages.monitor.ports import ReconcileMethod, ReconcileResult
from tests.gateway.adapters.otel.traced import COMPLETE, DONE, FIRST, INBOUND, TRACE, traced
from tests.gateway.stages.monitor.samples import TOOL


async def test_a_later_reconciliation_is_a_trace_of_its_own_that_links_to_the_call() -> None:
    """It may happen hours later, so the call's trace is pointed to and not continued."""
    with traced() as it:
        later = it.telemetry.reconciliation_started(TOOL, ReconcileMethod.LOOKUP, original=INBOUND)
        later.attempt(FIRST).ended(COMPLETE, DONE)
        await it.clock.advance(1.0)
        later.ended(ReconcileResult.DONE, operation_id="op-1")
        below, span = it.spans()

    assert (span.name, span.kind, span.parent) == ("reconcile issue_refund", SpanKind.INTERNAL, None)
    assert below.parent == span.context
    (link,) = span.links
    assert f"{link.context.trace_id:032x}" == TRACE != later.trace_id
    assert dict(link.attributes or {}) == {a.LINK_TYPE: "reconciles"}
    assert dict(span.attributes or {}) == {
        a.TOOL_NAME: "issue_refund",
        a.RECONCILE_METHOD: "lookup",
        a.RECONCILE_RESULT: "done",
        a.OPERATION_ID: "op-1",
    }
    assert (span.end_time or 0) - (span.start_time or 0) == 1_000_000_000


def test_without_a_stored_context_there_is_no_link() -> None:
    """A record from before telemetry was on is reconciled all the same."""
    with traced() as it:
        it.telemetry.reconciliation_started(None, ReconcileMethod.LOOKUP, original=None).ended(ReconcileResult.NOT_DONE)
        span = it.only_span()

    assert (span.name, span.links) == ("reconcile _unknown", ())


def test_reconciliations_are_counted_once_by_method_and_result() -> None:
    """Ending twice counts once."""
    with traced() as it:
        replay = it.telemetry.reconciliation_started(TOOL, ReconcileMethod.SAME_KEY_REPLAY, original=None)
        replay.ended(ReconcileResult.STILL_UNKNOWN)
        replay.ended(ReconcileResult.DONE)

        labels = {"oncegate_reconcile_method": "same_key_replay", "oncegate_reconcile_result": "still_unknown"}
        assert it.value("oncegate_reconciliations_total", **labels) == 1
        assert it.value("oncegate_reconciliations_total", oncegate_reconcile_result="done") is None


@pytest.mark.parametrize(
    ("result", "level"), [(ReconcileResult.DONE, logging.INFO), (ReconcileResult.STILL_UNKNOWN, logging.WARNING)]
)
def test_a_reconciliation_leaves_a_log_line(
    result: ReconcileResult, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """What stays unknown is a warning."""
    caplog.set_level(logging.INFO)
    with traced() as it:
        trace = it.telemetry.reconciliation_started(TOOL, ReconcileMethod.LOOKUP, original=INBOUND)
        trace.ended(result, operation_id="op-1")

    (record,) = [record for record in caplog.records if record.name == "oncegate.events"]
    fields = vars(record)[RECORD_ATTRIBUTE]
    assert record.levelno == level
    assert (fields["trace_id"], fields["operation_id"], fields["result"]) == (trace.trace_id, "op-1", result)
