from dataclasses import replace

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from gateway.adapters.otel.attempt import delivery_of, error_type_of, known_method
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.troubles import PAUSE_S
from gateway.stages.execute.attempt.exchange import Exchange, Phase
from gateway.stages.execute.attempt.outcome import Done, Outcome
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE
from gateway.stages.monitor.ports import AttemptFacts, AttemptKind
from tests.gateway.adapters.otel.traced import (
    BUSY,
    COMPLETE,
    DONE,
    FIRST,
    INBOUND,
    NOT_SENT,
    REFUSED,
    SILENT,
    UNKNOWN,
    UNREACHED,
    traced,
)
from tests.gateway.stages.monitor.samples import TOOL

RETRY = AttemptFacts(
    number=2,
    kind=AttemptKind.RETRY,
    method="POST",
    server_address="pay.example",
    server_port=443,
    retry_delay_s=0.83,
)


async def test_an_attempt_is_a_client_span_below_its_call() -> None:
    """Name, kind, parent and attributes are those of the conventions and of the page."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL)
        attempt = call.attempt(FIRST)
        sent = attempt.traceparent
        await it.clock.advance(0.1)
        attempt.ended(COMPLETE, DONE)
        span = it.only_span()

    assert (span.name, span.kind, span.status.status_code) == ("POST /refunds", SpanKind.CLIENT, StatusCode.UNSET)
    assert span.context is not None
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == (call.traceparent or "")[36:52]
    assert sent == f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-01"
    assert (span.end_time or 0) - (span.start_time or 0) == 100_000_000
    assert dict(span.attributes or {}) == {
        a.HTTP_METHOD: "POST",
        a.SERVER_ADDRESS: "pay.example",
        a.SERVER_PORT: 443,
        a.URL_TEMPLATE: "/refunds",
        a.HTTP_STATUS: 200,
        a.ATTEMPT_NUMBER: 1,
        a.ATTEMPT_KIND: "first",
        a.ATTEMPT_PHASE: "complete",
        a.ATTEMPT_REUSED: True,
        a.DELIVERY: "answered",
    }


def test_a_second_attempt_says_that_it_is_one() -> None:
    """It has a resend count and the wait before it; without a template its name is the method alone."""
    with traced() as it:
        it.telemetry.call_started(TOOL).attempt(RETRY).ended(BUSY, REFUSED)
        span = it.only_span()

    attributes = span.attributes or {}
    assert span.name == "POST"
    assert (attributes[a.HTTP_RESEND_COUNT], attributes[a.RETRY_DELAY]) == (1, 0.83)
    assert (attributes[a.ERROR_TYPE], span.status.status_code) == ("503", StatusCode.ERROR)


@pytest.mark.parametrize(
    ("exchange", "outcome", "delivery", "error_type"),
    [
        (COMPLETE, DONE, "answered", ""),
        (BUSY, REFUSED, "answered", "503"),
        (SILENT, UNKNOWN, "maybe_sent", "read_timeout"),
        (UNREACHED, NOT_SENT, "not_sent", "connect_failed"),
        (COMPLETE, Done(status=200, answer=None, code="result_unreadable"), "answered", "result_unreadable"),
        (Exchange(phase=Phase.CONNECTED), NOT_SENT, "not_sent", "connect_failed"),
        (Exchange(phase=Phase.BODY), UNKNOWN, "answered", "timeout_unknown_outcome"),
        (None, DONE, "answered", ""),
        (None, REFUSED, "answered", "unavailable"),
        (None, UNKNOWN, "maybe_sent", "timeout_unknown_outcome"),
        (None, NOT_SENT, "not_sent", "connect_failed"),
    ],
)
def test_the_phase_says_how_far_it_came(
    exchange: Exchange | None, outcome: Outcome, delivery: str, error_type: str
) -> None:
    """Before SENT nothing left; from the headers on it was answered; the fault is named before the status."""
    assert (delivery_of(exchange, outcome), error_type_of(exchange, outcome)) == (delivery, error_type)


async def test_the_numbers_of_an_attempt() -> None:
    """Count by kind and delivery, duration by server and status, and how near the timeout it came."""
    with traced() as it:
        attempt = it.telemetry.call_started(TOOL).attempt(FIRST)
        await it.clock.advance(4.6)
        attempt.ended(SILENT, UNKNOWN)
        attempt.ended(SILENT, UNKNOWN)

        labels = {"oncegate_attempt_kind": "first", "oncegate_delivery": "maybe_sent", "error_type": "read_timeout"}
        assert it.value("oncegate_tool_attempts_total", **labels) == 1
        assert it.value("http_client_request_duration_seconds_sum", server_address="pay.example") == pytest.approx(4.6)
        assert it.value("oncegate_attempt_timeout_utilization_ratio_sum") == pytest.approx(0.92)


def test_what_never_left_says_nothing_about_the_timeout() -> None:
    """A refused connection is counted as an attempt, not as a duration."""
    with traced() as it:
        it.telemetry.call_started(TOOL).attempt(FIRST).ended(UNREACHED, NOT_SENT)

        assert it.value("oncegate_tool_attempts_total", oncegate_delivery="not_sent") == 1
        assert it.value("http_client_request_duration_seconds_count") is None
        assert it.value("oncegate_attempt_timeout_utilization_ratio_count") is None


def test_without_a_timeout_there_is_no_utilization() -> None:
    """A look-up whose tool is not known has nothing to be held against."""
    with traced() as it:
        it.telemetry.call_started(TOOL).attempt(RETRY).ended(COMPLETE, DONE)

        assert it.value("oncegate_attempt_timeout_utilization_ratio_count") is None
        assert it.value("http_client_request_duration_seconds_count") == 1


def test_attempt_spans_can_be_switched_off() -> None:
    """The downstream's parent is then the call, and the numbers stay."""
    with traced(TelemetrySettings(attempt_spans=False)) as it:
        call = it.telemetry.call_started(TOOL, traceparent=INBOUND, tracestate="a=1")
        attempt = call.attempt(FIRST)
        attempt.ended(COMPLETE, DONE)

        assert (attempt.traceparent, attempt.tracestate) == (call.traceparent, "a=1")
        assert it.value("oncegate_tool_attempts_total") == 1
        assert it.spans() == []


def test_an_unregistered_method_is_other() -> None:
    """Methods of peers and manifests do not become series."""
    assert (known_method("PATCH"), known_method("patch"), known_method("BREW")) == ("PATCH", "_OTHER", "_OTHER")


@pytest.mark.parametrize("settings", [TelemetrySettings(), TelemetrySettings(attempt_spans=False)])
async def test_what_kept_an_answer_away_is_in_the_log(
    settings: TelemetrySettings, caplog: pytest.LogCaptureFixture
) -> None:
    """Phase, fault and our own words, with the tool and the trace; a hundred more like it in the same minute are one line."""
    refused = replace(UNREACHED, detail="the connection was not taken")
    with traced(settings) as it:
        call = it.telemetry.call_started(TOOL)
        for _ in range(101):
            call.attempt(FIRST).ended(refused, NOT_SENT)
        await it.clock.advance(PAUSE_S)
        call.attempt(RETRY).ended(refused, NOT_SENT)
        call.attempt(FIRST).ended(SILENT, UNKNOWN)
        call.attempt(FIRST).ended(COMPLETE, DONE)

    first, again, silent = caplog.records
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    assert (
        first.getMessage() == "attempt failed in transport (connecting, connect_failed): the connection was not taken"
    )
    assert silent.getMessage() == "attempt failed in transport (sent, read_timeout): no more is known"
    fields = [vars(record)[RECORD_ATTRIBUTE] for record in (first, again)]
    assert [(it["tool"], it["kind"], it["count"]) for it in fields] == [
        ("issue_refund", "first", 1),
        ("issue_refund", "retry", 101),
    ]
    assert {it["trace_id"] for it in fields} == {call.trace_id}


def test_a_span_says_what_kept_an_answer_away() -> None:
    """Each has its own words, whatever the log passes over."""
    with traced() as it:
        attempt = it.telemetry.call_started(TOOL).attempt(FIRST)
        attempt.ended(replace(UNREACHED, detail="the connection was not taken"), NOT_SENT)
        status = it.only_span().status

    assert (status.status_code, status.description) == (StatusCode.ERROR, "the connection was not taken")
