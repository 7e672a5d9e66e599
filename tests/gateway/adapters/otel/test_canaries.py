"""Secrets planted wherever a call could carry them, and looked for in everything that leaves."""

import io
import logging
from dataclasses import replace

import pytest
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from gateway.adapters.logs.json_lines import JsonFormatter
from gateway.adapters.otel.settings import LogCalls, TelemetrySettings
from gateway.contract.call import Caller, ToolCall
from gateway.contract.canonical import canonical
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail, succeed
from gateway.contract.execution import RowKind
from gateway.stages.execute.attempt.exchange import Answer, Exchange, Fault, Phase
from gateway.stages.execute.attempt.outcome import Done, Unknown
from gateway.stages.monitor.execution import Stamp, argument_hash, call_row
from gateway.stages.monitor.ports import LinkType, ReconcileMethod, ReconcileResult, UnknownOperations
from tests.gateway.adapters.otel.traced import FIRST, INBOUND, Traced, traced
from tests.gateway.stages.monitor.samples import SampleTool

TOOL = SampleTool(capture=("card",))

CANARY = "canary-5f3759df"
ARGUMENTS = {"card": CANARY}
CALL = ToolCall(tool=CANARY, arguments=ARGUMENTS, idempotency_key=CANARY, run_id="run-1")
META = Meta(
    request_id="req-1",
    operation_id="op-1",
    attempts=1,
    idempotency_key=CANARY,
    store_epoch=CANARY,
    truncated=CANARY,
    warnings=(CANARY,),
)
ANSWER = Answer(status=200, headers=(("set-cookie", CANARY), ("location", f"/?key={CANARY}")), body=CANARY.encode())


def _failing() -> dict[str, UnknownOperations]:
    raise LookupError(CANARY)


def _everything_said(it: Traced) -> None:
    call = it.telemetry.call_started(TOOL, traceparent=INBOUND, tracestate=CANARY, run_id=CALL.run_id)
    call.capture(ARGUMENTS)
    call.link(CANARY, LinkType.ORIGINAL_EXECUTION)
    call.attempt(FIRST).ended(Exchange(phase=Phase.COMPLETE, answer=ANSWER), Done(status=200, answer=ANSWER))
    broke, words = LookupError(CANARY), "the connection broke"
    lost = Exchange(phase=Phase.BODY, answer=ANSWER, fault=Fault.RESET, detail=words, cause=broke)
    call.attempt(replace(FIRST, number=2)).ended(lost, Unknown(code="outcome_unknown"))
    call.ended(succeed({"iban": CANARY}, META))
    unknown = it.telemetry.call_started(None, traceparent=CANARY)
    details = {"argument": CANARY}
    unknown.ended(fail(ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME, META, message=CANARY, details=details))
    it.telemetry.request_started(CANARY, None, traceparent=CANARY).ended(500)
    later = it.telemetry.reconciliation_started(TOOL, ReconcileMethod.LOOKUP, original=CANARY)
    later.ended(ReconcileResult.STILL_UNKNOWN, operation_id="op-1")
    it.telemetry.rows_failed(RowKind.CALL)
    it.telemetry.watch_unknown(_failing)


def test_no_secret_is_in_spans_metrics_or_logs(caplog: pytest.LogCaptureFixture) -> None:
    """Arguments, results, headers, queries, keys, messages and exception texts leave no trace in any signal."""
    caplog.set_level(logging.DEBUG)
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    try:
        with traced(TelemetrySettings(server_spans=True, log_calls=LogCalls.ALL)) as it:
            _everything_said(it)
            scrape = it.telemetry.render_prometheus()
            metrics = encode_metrics(it.telemetry._collect())
            spans = encode_spans(it.spans())
    finally:
        logging.getLogger().removeHandler(handler)

    assert len(spans.resource_spans[0].scope_spans[0].spans) == 6
    assert lines.getvalue().count("\n") >= 4
    for signal in (str(spans), str(metrics), scrape.decode(), lines.getvalue(), caplog.text):
        assert "issue_refund" in signal or signal == caplog.text
        assert CANARY not in signal


def test_no_secret_is_in_a_row() -> None:
    """The arguments are there as a keyed hash only, and an unknown tool's name not at all."""
    caller = Caller(subject="agent-7", tenant="acme", attributes={"token": CANARY})
    hashed = argument_hash(canonical(ARGUMENTS), b"deployment key")
    row = call_row(
        fail(ErrorCode.UNKNOWN_TOOL, META, message=CANARY),
        Stamp(row_id="1", at_wall=0.0),
        tool=None,
        caller=caller,
        call=CALL,
        hashed_arguments=hashed,
    )

    assert CANARY not in repr(row)
    assert row.argument_hash == hashed
