from gateway.adapters.otel.settings import InboundTrace, LogCalls, TelemetrySettings


def test_the_defaults_are_those_on_the_page() -> None:
    """Nothing is exported unasked; attempts have spans; callers are parents; problems are logged."""
    assert TelemetrySettings() == TelemetrySettings(
        otlp_endpoint=None,
        attempt_spans=True,
        server_spans=False,
        inbound_trace=InboundTrace.PARENT,
        sample_ratio=1.0,
        log_calls=LogCalls.PROBLEMS,
        capture=False,
        metric_interval_s=60.0,
        shutdown_s=5.0,
    )
