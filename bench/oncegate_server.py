"""OnceGate as `oncegate serve` runs it, but for one thing: its spans go to an exporter that drops them.

Everything else is the product's own: settings from the environment, the key file, the manifests, SQLite, the metrics,
the batch span processor with its thread and its batches. What the exporter does not do is write protobuf and send it,
which is a collector's price and not a call's. Run: python -m bench.oncegate_server, with `ONCEGATE_…` variables.
"""

import os
from collections.abc import Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from gateway import __version__
from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.keys import KeyFile
from gateway.adapters.files.shelf import Shelf
from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.logs.config import configure_logging
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.adapters.system.clock import SystemClock
from gateway.adapters.system.enumerations import spare_enumerations
from gateway.app import open_store, wire
from gateway.cli.loading import load
from gateway.cli.serve import announce, watched
from gateway.fronts.build import build
from gateway.fronts.http.server import Server, bind, run
from gateway.manifest.building import Operator
from gateway.pipeline.advances import Advances
from gateway.pipeline.core import Pipeline

PATIENCE: Final = "BENCH_STORE_PATIENCE_S"
"""How long a question to Redis may take where everything takes fifty times as long."""
SLOWDOWN: Final = "BENCH_SLOWDOWN"
"""How many times as long everything takes. What is kept for some milliseconds is kept for as many calls as otherwise."""


class Dropping(SpanExporter):
    """Takes every batch and forgets it."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - the exporter's signature
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        pass


def main() -> None:
    """Serve until SIGTERM."""
    settings = load({}, os.environ).settings
    configure_logging(settings.log_level.upper())
    spare_enumerations()
    clock = SystemClock()
    environment = {name: os.environ[name] for name in settings.manifest_env}
    shelf = Shelf(settings.manifests, Operator(engine=CelEngine(), environment=environment, secrets={}))
    tracing = TelemetrySettings(attempt_spans=settings.attempt_spans)
    telemetry = OtelTelemetry(tracing, clock, __version__, spans=Dropping())
    telemetry.manifests_loaded(shelf.catalogue.tools.values())
    transport = HttpToolTransport(clock, egress=EgressPolicy(settings.allow_private))
    store = open_store(settings)
    if PATIENCE in os.environ:
        from gateway.adapters.redis.store import RedisOperationStore  # noqa: PLC0415 - as in the product, only on Redis

        assert isinstance(store, RedisOperationStore)
        store.client.timeout_s = float(os.environ[PATIENCE])
    parts = wire(settings, shelf=shelf, store=store, telemetry=telemetry, transport=transport)
    if SLOWDOWN in os.environ and isinstance(parts.rates, Advances):
        now, slowdown = parts.rates.now, float(os.environ[SLOWDOWN])
        parts.rates.now = lambda: now() / slowdown
    core = Pipeline(parts)
    application = build(core, KeyFile(settings.keys), settings, telemetry)
    server = Server(
        application,
        core,
        settings,
        announce=lambda host, port: announce(host, port, as_json=False),
        files_changed=watched(settings).changed,
    )
    run(server, bind(settings))


if __name__ == "__main__":
    main()
