import pytest

from gateway.adapters.otel.settings import InboundTrace, TelemetrySettings
from gateway.stages.monitor import attributes as a
from tests.gateway.adapters.otel.traced import COMPLETE, DONE, FIRST, INBOUND, PARENT, TRACE, UNSAMPLED, traced
from tests.gateway.stages.monitor.samples import TOOL, SampleTool, ok


def test_a_callers_span_is_the_parent() -> None:
    """By default our span continues the caller's trace, and its tracestate reaches the downstream and the export."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL, traceparent=INBOUND, tracestate="congo=t61")
        attempt = call.attempt(FIRST)
        attempt.ended(COMPLETE, DONE)
        call.ended(ok())
        below, span = it.spans()

    assert span.parent is not None
    assert (f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}", span.parent.is_remote) == (
        TRACE,
        PARENT,
        True,
    )
    assert call.trace_id == TRACE
    assert span.context is not None
    assert span.context.trace_state.to_header() == "congo=t61"
    assert attempt.tracestate == "congo=t61"
    assert below.parent is not None
    assert below.parent.is_remote is False


def test_a_callers_span_can_be_a_link() -> None:
    """The trace is ours, so that a caller's sampling decides nothing; tracestate belongs to the other trace."""
    with traced(TelemetrySettings(inbound_trace=InboundTrace.LINK)) as it:
        call = it.telemetry.call_started(TOOL, traceparent=UNSAMPLED, tracestate="congo=t61")
        attempt = call.attempt(FIRST)
        call.ended(ok())
        span = it.only_span()

    assert (span.parent, attempt.tracestate) == (None, None)
    assert call.trace_id != TRACE
    (link,) = span.links
    assert f"{link.context.trace_id:032x}" == TRACE
    assert dict(link.attributes or {}) == {a.LINK_TYPE: "inbound"}


def test_a_callers_span_can_be_ignored() -> None:
    """Nothing of it is left."""
    with traced(TelemetrySettings(inbound_trace=InboundTrace.IGNORE)) as it:
        call = it.telemetry.call_started(TOOL, traceparent=INBOUND, tracestate="congo=t61")
        attempt = call.attempt(FIRST)
        call.ended(ok())
        span = it.only_span()

    assert (span.parent, span.links, attempt.tracestate) == (None, (), None)
    assert call.trace_id != TRACE


def test_a_call_that_is_not_sampled_makes_no_span() -> None:
    """The flag goes on downstream, the numbers are counted, and nothing is exported."""
    with traced() as it:
        call = it.telemetry.call_started(TOOL, traceparent=UNSAMPLED)
        attempt = call.attempt(FIRST)
        attempt.ended(COMPLETE, DONE)
        call.ended(ok())

        assert (attempt.traceparent or "").startswith(f"00-{TRACE}-")
        assert (attempt.traceparent or "").endswith("-00")
        assert it.value("oncegate_tool_calls_total") == 1
        assert it.spans() == []


@pytest.mark.parametrize(("ratio", "spans"), [(0.0, 0), (1.0, 1)])
def test_the_sample_ratio_is_for_traces_that_begin_here(ratio: float, spans: int) -> None:
    """A caller's sampled trace is recorded whatever the ratio."""
    with traced(TelemetrySettings(sample_ratio=ratio)) as it:
        it.telemetry.call_started(TOOL).ended(ok())
        it.telemetry.call_started(TOOL, traceparent=INBOUND).ended(ok())

        assert len(it.spans()) == spans + 1


def test_without_an_exporter_the_callers_context_goes_through() -> None:
    """A downstream span's parent is one that somebody records; a trace of our own says that it is not recorded."""
    with traced(exports=False) as it:
        through = it.telemetry.call_started(TOOL, traceparent=INBOUND, tracestate="a=1").attempt(FIRST)
        own = it.telemetry.call_started(TOOL)

        assert (through.traceparent, through.tracestate) == (INBOUND, "a=1")
        assert (own.traceparent or "").endswith("-00")
        assert len(own.trace_id or "") == 32


def test_a_new_manifest_takes_the_old_ones_place() -> None:
    """What is said of a tool is computed once for each manifest, and never from an old one."""
    with traced() as it:
        it.telemetry.call_started(TOOL).ended(ok())
        it.telemetry.call_started(SampleTool(version="2.0.0")).ended(ok())
        old, new = it.spans()

    assert (old.attributes or {})[a.MANIFEST_VERSION] == "1.2.0"
    assert (new.attributes or {})[a.MANIFEST_VERSION] == "2.0.0"
