import pytest
from opentelemetry.trace import SpanKind, StatusCode

from gateway.adapters.otel.settings import InboundTrace, TelemetrySettings
from gateway.stages.monitor import attributes as a
from gateway.stages.monitor.ports import McpFacts
from tests.gateway.adapters.otel.traced import INBOUND, PARENT, TRACE, traced
from tests.gateway.stages.monitor.samples import TOOL, ok

ROUTE = "/v1/tools/{tool}/calls"
ON = TelemetrySettings(server_spans=True)


async def test_a_request_has_a_duration_and_no_span_by_default() -> None:
    """The caller's context goes through to the call as it came."""
    with traced() as it:
        request = it.telemetry.request_started("POST", ROUTE, traceparent=INBOUND, tracestate="a=1")
        await it.clock.advance(0.2)
        request.ended(503)
        request.ended(503)

        assert (request.traceparent, request.tracestate) == (INBOUND, "a=1")
        labels = {"http_request_method": "POST", "http_route": ROUTE, "http_response_status_code": "503"}
        assert it.value("http_server_request_duration_seconds_sum", error_type="503", **labels) == pytest.approx(0.2)
        assert it.spans() == []


def test_a_server_span_stands_between_the_caller_and_the_call() -> None:
    """Switched on, it is the caller's child and the call's parent."""
    with traced(ON) as it:
        request = it.telemetry.request_started("POST", ROUTE, traceparent=INBOUND)
        call = it.telemetry.call_started(TOOL, traceparent=request.traceparent)
        call.ended(ok())
        request.ended(200)
        inner, outer = it.spans()

    assert (outer.name, outer.kind, outer.status.status_code) == (f"POST {ROUTE}", SpanKind.SERVER, StatusCode.UNSET)
    assert outer.parent is not None
    assert (f"{outer.parent.span_id:016x}", outer.parent.is_remote) == (PARENT, True)
    assert inner.parent == outer.context
    assert dict(outer.attributes or {}) == {a.HTTP_METHOD: "POST", a.HTTP_ROUTE: ROUTE, a.HTTP_STATUS: 200}


def test_a_message_of_mcp_is_named_on_its_request() -> None:
    """Its method, its revision, and its id where there is one to show."""
    with traced(ON) as it:
        shown = McpFacts(method="tools/call", version="2026-07-28", message_id="7")
        it.telemetry.request_started("POST", "/mcp").ended(200, shown)
        it.telemetry.request_started("POST", "/mcp").ended(200, McpFacts(method="ping", version="2025-11-25"))
        first, second = (dict(span.attributes or {}) for span in it.spans())

    http = {a.HTTP_METHOD: "POST", a.HTTP_ROUTE: "/mcp", a.HTTP_STATUS: 200}
    assert first == {**http, a.MCP_METHOD: "tools/call", a.MCP_VERSION: "2026-07-28", a.MESSAGE_ID: "7"}
    assert second == {**http, a.MCP_METHOD: "ping", a.MCP_VERSION: "2025-11-25"}


def test_a_call_stays_below_its_request_however_callers_are_treated() -> None:
    """The setting is about other processes; our own span is always the parent."""
    with traced(TelemetrySettings(server_spans=True, inbound_trace=InboundTrace.LINK)) as it:
        request = it.telemetry.request_started("POST", ROUTE, traceparent=INBOUND)
        it.telemetry.call_started(TOOL, traceparent=request.traceparent).ended(ok())
        request.ended(200)
        inner, outer = it.spans()

    assert inner.parent == outer.context
    assert (outer.parent, f"{outer.links[0].context.trace_id:032x}") == (None, TRACE)
    assert inner.links == ()


def test_a_request_that_is_over_is_nobodys_parent() -> None:
    """Its context, sent by a caller later, is a caller's like any other."""
    with traced(TelemetrySettings(server_spans=True, inbound_trace=InboundTrace.IGNORE)) as it:
        request = it.telemetry.request_started("POST", None)
        request.ended(500)
        it.telemetry.call_started(TOOL, traceparent=request.traceparent).ended(ok())
        outer, inner = it.spans()

    assert inner.parent is None
    assert (outer.name, outer.status.status_code) == ("POST", StatusCode.ERROR)
    assert (outer.attributes or {})[a.ERROR_TYPE] == "500"


def test_random_methods_and_unmatched_paths_are_one_series() -> None:
    """10,000 methods leave `_OTHER` and no route."""
    with traced() as it:
        for n in range(10_000):
            it.telemetry.request_started(f"M{n}", None).ended(405)

        assert it.value("http_server_request_duration_seconds_count", http_request_method="_OTHER") == 10_000
