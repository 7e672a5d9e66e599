"""Who we are and where spans and metrics go, from the settings and OpenTelemetry's own variables."""

from collections.abc import Mapping
from typing import Final

from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace.export import SpanExporter

from gateway.stages.monitor.attributes import SERVICE_NAME, SERVICE_VERSION

_PATHS: Final = {"TRACES": "v1/traces", "METRICS": "v1/metrics"}


def describe(version: str) -> Resource:
    """This process: `service.name` is `oncegate` unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` has one."""
    described = Resource.create({SERVICE_VERSION: version})
    if SERVICE_NAME in OTELResourceDetector().detect().attributes:
        return described
    return described.merge(Resource({SERVICE_NAME: "oncegate"}))


def span_exporter(endpoint: str | None, environ: Mapping[str, str]) -> SpanExporter | None:
    """OTLP over HTTP, or None when nothing asks for it."""
    if not _wanted("TRACES", endpoint, environ):
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - megabytes, with protobuf, that only OTLP needs

    return OTLPSpanExporter(endpoint=_url("TRACES", endpoint))


def metric_exporter(endpoint: str | None, environ: Mapping[str, str]) -> MetricExporter | None:
    """OTLP over HTTP, or None when nothing asks for it."""
    if not _wanted("METRICS", endpoint, environ):
        return None
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415 - megabytes, with protobuf, that only OTLP needs

    return OTLPMetricExporter(endpoint=_url("METRICS", endpoint))


def _wanted(signal: str, endpoint: str | None, environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if environ.get(f"OTEL_{signal}_EXPORTER", "otlp").strip().lower() == "none":
        return False
    named = endpoint, environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"), environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return any(named)


def _url(signal: str, endpoint: str | None) -> str | None:
    # None leaves it to the exporter, which reads the same variables.
    return None if endpoint is None else f"{endpoint.rstrip('/')}/{_PATHS[signal]}"
