import pytest

from gateway.adapters.otel.exporters import describe, metric_exporter, span_exporter

BASE = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACES = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
METRICS = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"


@pytest.mark.parametrize(
    ("endpoint", "environ", "spans", "metrics"),
    [
        (None, {}, False, False),
        ("http://127.0.0.1:4318/", {}, True, True),
        (None, {BASE: "http://127.0.0.1:4318"}, True, True),
        (None, {TRACES: "http://127.0.0.1:4318/v1/traces"}, True, False),
        (None, {METRICS: "http://127.0.0.1:4318/v1/metrics"}, False, True),
        (None, {BASE: "http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER": "none"}, False, True),
        (None, {BASE: "http://127.0.0.1:4318", "OTEL_METRICS_EXPORTER": "none"}, True, False),
        ("http://127.0.0.1:4318", {"OTEL_SDK_DISABLED": "true"}, False, False),
    ],
)
def test_nothing_is_exported_unasked(
    endpoint: str | None, environ: dict[str, str], *, spans: bool, metrics: bool
) -> None:
    """The setting and the standard variables ask for it, by signal; the standard switches take it back."""
    made = span_exporter(endpoint, environ), metric_exporter(endpoint, environ)
    for exporter in made:
        if exporter is not None:
            exporter.shutdown()

    assert (made[0] is not None, made[1] is not None) == (spans, metrics)


def test_we_are_oncegate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the operator gives the service another name, in either of the two ways."""
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    monkeypatch.delenv("OTEL_RESOURCE_ATTRIBUTES", raising=False)
    assert describe("0.1").attributes["service.name"] == "oncegate"
    assert describe("0.1").attributes["service.version"] == "0.1"

    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=tools,deployment.environment.name=staging")
    assert describe("0.1").attributes["service.name"] == "tools"
    assert describe("0.1").attributes["deployment.environment.name"] == "staging"

    monkeypatch.setenv("OTEL_SERVICE_NAME", "gateway-7")
    assert describe("0.1").attributes["service.name"] == "gateway-7"
