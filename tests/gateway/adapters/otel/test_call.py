import logging
from collections.abc import Sequence

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from gateway.adapters.otel.settings import LogCalls, TelemetrySettings
from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import Cost
from gateway.stages.execute.breaker.breaker import State
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE
from gateway.stages.monitor.ports import IdempotencyResult, LinkType, ReconcileMethod
from tests.gateway.adapters.otel.traced import FIRST, INBOUND, PARENT, SILENT, TRACE, UNKNOWN, traced
from tests.gateway.stages.monitor.samples import TOOL, SampleTool, failed, ok

COST = Cost(unit="usd", per_call=0.25)


async def test_a_call_is_one_internal_span_with_everything_on_it() -> None:
    """Name, kind, times and attributes are those of the conventions and of the page."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL, run_id="run-1")
        call.asked(State.CLOSED, waited_s=0.02, admitted=True)
        await it.clock.advance(0.25)
        call.ended(
            ok(truncated="3 of 5 items"),
            idempotency=IdempotencyResult.NEW,
            deadline_s=20.0,
            deadline_left_s=19.75,
            user_hash="9f",
        )
        span = it.only_span()

    assert (span.name, span.kind, span.status.status_code) == (
        "execute_tool issue_refund",
        SpanKind.INTERNAL,
        StatusCode.UNSET,
    )
    assert (span.end_time or 0) - (span.start_time or 0) == 250_000_000
    assert dict(span.attributes or {}) == {
        a.OPERATION_NAME: "execute_tool",
        a.TOOL_NAME: "issue_refund",
        a.TOOL_TYPE: "extension",
        a.EFFECT: "write",
        a.MANIFEST_VERSION: "1.2.0",
        a.MANIFEST_DIGEST: "sha256:abc",
        a.CONVERSATION_ID: "run-1",
        a.OPERATION_ID: "op-1",
        a.OUTCOME: "ok",
        a.IDEMPOTENCY_RESULT: "new",
        a.BREAKER_STATE: "closed",
        a.ATTEMPT_COUNT: 1,
        a.DEADLINE_BUDGET: 20.0,
        a.DEADLINE_LEFT: 19.75,
        a.RESULT_TRUNCATED: True,
        a.USER_HASH: "9f",
    }


@pytest.mark.parametrize("asked", [(), (State.OPEN,), (State.CLOSED, State.HALF_OPEN)])
def test_a_span_has_the_breaker_as_it_was_last_asked(asked: Sequence[State]) -> None:
    """Where nobody asked it, it is not said to be closed; who was refused by it stood before no bulkhead."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        for state in asked:
            call.asked(state)
        call.ended(ok())
        assert it.value("oncegate_bulkhead_wait_seconds_count") is None
        assert it.value("oncegate_bulkhead_rejected_total") is None
        attributes = it.only_span().attributes or {}

    assert attributes.get(a.BREAKER_STATE) == (asked[-1].value if asked else None)


def test_only_faults_put_a_span_in_error() -> None:
    """A refusal is an answer: it has a code, and neither error.type nor an error status."""
    with traced() as it:
        it.telemetry.call_started(TOOL).ended(failed(ErrorCode.CIRCUIT_OPEN, attempts=0))
        it.telemetry.call_started(TOOL).ended(failed(ErrorCode.FORBIDDEN, attempts=0))
        fault, refusal = it.spans()

    assert (fault.attributes or {})[a.ERROR_TYPE] == "circuit_open"
    assert fault.status.status_code is StatusCode.ERROR
    assert (refusal.attributes or {})[a.ERROR_CODE] == "forbidden"
    assert a.ERROR_TYPE not in (refusal.attributes or {})
    assert refusal.status.status_code is StatusCode.UNSET


def test_a_call_answered_while_its_attempt_listens_may_have_been_sent() -> None:
    """The attempt has not ended, so the call says maybe_sent; the attempt's own span follows later."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        attempt = call.attempt(FIRST)
        call.ended(failed(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME))
        attempt.ended(SILENT, UNKNOWN)
        above, below = it.spans()

    assert (above.attributes or {})[a.DELIVERY] == "maybe_sent"
    assert below.parent == above.context


def test_a_replay_links_to_the_call_whose_answer_it_gives() -> None:
    """The link carries the stored trace context; what is no trace context is left out."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        call.link(INBOUND, LinkType.ORIGINAL_EXECUTION)
        call.link("not a traceparent", LinkType.ORIGINAL_EXECUTION)
        call.ended(ok(replayed=True), idempotency=IdempotencyResult.REPLAYED)
        span = it.only_span()

    (link,) = span.links
    assert (link.context.trace_id, link.context.span_id) == (int(TRACE, 16), int(PARENT, 16))
    assert dict(link.attributes or {}) == {a.LINK_TYPE: "original_execution"}
    assert (span.attributes or {})[a.OUTCOME] == "replayed"


def test_what_a_record_keeps_is_the_calls_own_span() -> None:
    """`traceparent` names the span that is exported, so that a later link finds it."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        kept, trace_id = call.traceparent, call.trace_id
        call.ended(ok())
        context = it.only_span().context

    assert context is not None
    assert kept == f"00-{context.trace_id:032x}-{context.span_id:016x}-01"
    assert trace_id == f"{context.trace_id:032x}"


async def test_a_call_begins_when_its_request_arrived() -> None:
    """The time before the tool was known belongs to the call."""
    with traced() as it:
        arrived_at = it.clock.monotonic()
        await it.clock.advance(0.5)
        it.telemetry.call_started(TOOL, arrived_at=arrived_at).ended(ok())
        span = it.only_span()

    assert (span.end_time or 0) - (span.start_time or 0) == 500_000_000


def test_an_abandoned_call_has_a_span_and_no_count() -> None:
    """Without an envelope there is nothing to count; nothing stays active either."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        call.abandoned()
        call.abandoned()
        assert it.value("oncegate_tool_calls_total") is None
        assert it.value("oncegate_tool_calls_active", gen_ai_tool_name=TOOL.name) == 0
        span = it.only_span()

    assert (span.attributes or {})[a.CALL_ABANDONED] is True


def test_a_call_ends_once() -> None:
    """A second end is not a second envelope."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        assert it.value("oncegate_tool_calls_active", gen_ai_tool_name=TOOL.name) == 1
        call.ended(ok())
        call.ended(ok())
        call.abandoned()

        assert it.value("oncegate_tool_calls_total") == 1
        assert it.value("oncegate_tool_calls_active", gen_ai_tool_name=TOOL.name) == 0
        it.only_span()


async def test_the_numbers_of_one_call() -> None:
    """Duration, size, truncation, cost, wait and look-up are each counted once."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        call.asked(State.CLOSED, waited_s=0.02, admitted=True)
        await it.clock.advance(0.25)
        envelope = ok(truncated="cut")
        call.ended(envelope, idempotency=IdempotencyResult.NEW, result_bytes=300, deadline_left_s=1.0, cost=COST)

        assert it.value("gen_ai_execute_tool_duration_seconds_sum", error_type="") is None
        assert it.value("gen_ai_execute_tool_duration_seconds_sum", gen_ai_tool_name=TOOL.name) == 0.25
        assert it.value("oncegate_result_size_bytes_sum") == 300
        assert it.value("oncegate_result_truncated_total") == 1
        assert it.value("oncegate_tool_cost_total", oncegate_cost_unit="usd") == 0.25
        assert it.value("oncegate_bulkhead_wait_seconds_sum") == 0.02
        assert it.value("oncegate_idempotency_lookups_total", oncegate_idempotency_result="new") == 1
        assert it.value("oncegate_deadline_overrun_seconds_count") is None
        assert it.value("oncegate_bulkhead_rejected_total") is None


def test_the_numbers_of_a_late_and_a_shed_call() -> None:
    """An overrun is recorded by its length; a call without a slot is counted, and costs nothing."""
    with traced() as it:
        late = it.telemetry.call_started(TOOL)
        late.ended(failed(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME), deadline_left_s=-0.03, cost=COST)
        shed = it.telemetry.call_started(TOOL)
        shed.asked(State.CLOSED, waited_s=1.0)
        shed.ended(failed(ErrorCode.GATEWAY_SATURATED, attempts=0), cost=COST)

        assert it.value("oncegate_deadline_overrun_seconds_sum") == 0.03
        assert it.value("oncegate_bulkhead_rejected_total") == 1
        assert it.value("oncegate_tool_cost_total") == 0.25
        assert it.value("oncegate_idempotency_lookups_total") is None


def test_a_reconciliation_within_a_call_is_its_child() -> None:
    """Same trace, below the call, with its own attempts below it."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL, traceparent=INBOUND, tracestate="a=1")
        inside = call.reconcile(ReconcileMethod.LOOKUP)

        assert inside.trace_id == call.trace_id
        assert inside.attempt(FIRST).tracestate == "a=1"


@pytest.mark.parametrize(
    ("allowed", "tool", "shown"),
    [
        (True, SampleTool(capture=("order_id",)), '{"order_id": "ORD-1"}'),
        (True, SampleTool(), None),
        (False, SampleTool(capture=("order_id",)), None),
    ],
)
def test_arguments_are_in_a_span_only_when_manifest_and_operator_want_it(
    tool: SampleTool, shown: str | None, *, allowed: bool
) -> None:
    """One of the two is not enough, and what the manifest does not list stays out."""
    with traced(TelemetrySettings(capture=allowed)) as it:
        call = it.telemetry.call_started(tool)
        call.capture({"order_id": "ORD-1", "note": "private"})
        call.ended(ok())

        assert (it.only_span().attributes or {}).get(a.TOOL_ARGUMENTS) == shown


def test_a_long_run_id_is_cut() -> None:
    """An identifier that a caller chose has a bounded length."""
    with traced() as it:
        it.telemetry.call_started(TOOL, run_id="r" * 1000).ended(ok())

        assert len(str((it.only_span().attributes or {})[a.CONVERSATION_ID])) == 128


@pytest.mark.parametrize(
    ("choice", "lines"),
    [(LogCalls.ALL, ["ok", "unknown"]), (LogCalls.PROBLEMS, ["unknown"]), (LogCalls.NONE, [])],
)
def test_the_operator_chooses_which_calls_are_logged(
    choice: LogCalls, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Each line has the call's identifiers, outcome and code."""
    caplog.set_level(logging.INFO)
    with traced(TelemetrySettings(log_calls=choice)) as it:
        it.telemetry.call_started(TOOL).ended(ok())
        call = it.telemetry.call_started(TOOL)
        call.ended(failed(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME))
        traceparent = call.traceparent or ""

    fields = [vars(record)[RECORD_ATTRIBUTE] for record in caplog.records if record.name == "oncegate.calls"]
    assert [line["outcome"] for line in fields] == lines
    if lines:
        assert fields[-1] == {
            "trace_id": traceparent[3:35],
            "span_id": traceparent[36:52],
            "operation_id": "op-1",
            "tool": "issue_refund",
            "outcome": "unknown",
            "code": "timeout_unknown_outcome",
            "attempts": 1,
            "elapsed_ms": 0,
        }
