"""Gateway processes that start in a moment and die at a chosen one: `python -m tests.crash.launcher FIFO`.

One process loads everything once, the manifests too, and then forks a gateway for each line it reads from the FIFO, which
is an `Errand` as JSON. What happens is printed line by line as JSON: `forked`, `listening`, and `ended` when a gateway is
gone. When nobody holds the FIFO open for writing any more, it kills the gateways that are left, and leaves.
"""

import gc
import json
import os
import signal
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO, cast
from urllib.parse import urlsplit

from bench.scenarios.unsafe import PROTECTIONS
from gateway import __version__
from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.keys import KeyFile
from gateway.adapters.files.shelf import Shelf
from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.logs.config import configure_logging
from gateway.adapters.memory.breakers import MemoryBreakers
from gateway.adapters.memory.limits import MemoryLimits
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import open_telemetry
from gateway.adapters.system.clock import SystemClock
from gateway.app import open_store, wire
from gateway.fronts.build import build
from gateway.fronts.http.server import Server, bind
from gateway.fronts.http.server import run as serve
from gateway.manifest.building import Operator
from gateway.pipeline.core import Pipeline
from gateway.settings import Settings
from gateway.stages.execute.operation.ports import OperationStore
from tests.crash.points import Point
from tests.crash.traps import Trap, TrappedCore, TrappedStore, TrappedTransport


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One gateway process.

    Attributes:
        name: returned with `listening`.
        folder: where its store and keys are.
        point: where it dies once all of `orders` have come there; None: not by itself.
        sweep_s: how often it looks for records in need of care.
        without: a protection of `bench.scenarios.unsafe` that this one lacks, so that the kills show what it is for.
    """

    name: str
    folder: str
    manifests: str
    provider_url: str
    lease_s: float
    sweep_s: float
    point: str | None = None
    orders: tuple[str, ...] = ()
    without: str | None = None

    def line(self) -> bytes:
        """As the launcher reads it."""
        return json.dumps(asdict(self)).encode() + b"\n"


def settings_of(errand: Errand) -> Settings:
    """What this gateway is set to."""
    folder = Path(errand.folder)
    return Settings(
        port=0,
        manifests=Path(errand.manifests),
        store=f"sqlite:///{folder / 'store.sqlite'}",
        keys=folder / "keys.json",
        manifest_env=("PAYMENTS_URL",),
        allow_private=(urlsplit(errand.provider_url).netloc,),
        lease_s=errand.lease_s,
        sweep_interval_s=errand.sweep_s,
        reload_interval_s=0,
    )


@cache
def shelf_of(manifests: str, provider_url: str) -> Shelf:
    """The tools of a gateway. What is loaded before it is forked costs it nothing."""
    return Shelf(Path(manifests), Operator(engine=CelEngine(), environment={"PAYMENTS_URL": provider_url}, secrets={}))


def run(errand: Errand) -> None:
    """Be a gateway until killed: the composition of `gateway.app`, with traps at its ports."""
    settings = settings_of(errand)
    if errand.without is not None:
        PROTECTIONS[errand.without]()
        # A protection may be one of those who load manifests.
        shelf_of.cache_clear()
    trap = Trap(None if errand.point is None else Point(errand.point), errand.orders)
    clock = SystemClock()
    telemetry = open_telemetry(TelemetrySettings(), clock, __version__, {})
    transport = HttpToolTransport(clock, egress=EgressPolicy(settings.allow_private))
    parts = wire(
        settings,
        shelf=shelf_of(errand.manifests, errand.provider_url),
        store=cast("OperationStore", TrappedStore(open_store(settings), trap)),
        telemetry=telemetry,
        transport=TrappedTransport(transport, trap),
        shared=(MemoryBreakers(clock), MemoryLimits(clock)),
    )
    core = cast("Pipeline", TrappedCore(Pipeline(parts), trap))
    application = build(core, KeyFile(settings.keys), settings, telemetry)

    def announce(host: str, port: int) -> None:
        tell(event="listening", name=errand.name, pid=os.getpid(), url=f"http://{host}:{port}")

    serve(Server(application, core, settings, announce=announce), bind(settings))


def tell(**facts: Any) -> None:
    """One line, whole also when others write at the same moment."""
    os.write(1, json.dumps(facts).encode() + b"\n")


def main(errands: TextIO) -> None:
    """Fork a gateway for each line."""
    children: set[int] = set()

    def reap(*_: object) -> None:
        while children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            children.discard(pid)
            tell(event="ended", pid=pid, signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)

    signal.signal(signal.SIGCHLD, reap)
    configure_logging("WARNING")
    gc.collect()
    for line in errands:
        read = json.loads(line)
        errand = Errand(**read | {"orders": tuple(read["orders"])})
        shelf_of(errand.manifests, errand.provider_url)
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            errands.close()
            run(errand)
            os._exit(0)
        children.add(pid)
        tell(event="forked", name=errand.name, pid=pid)
        reap()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    # Opened without waiting for a writer: who started this may have gone already.
    fifo = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(fifo, True)
    with os.fdopen(fifo, encoding="utf-8") as given:
        main(given)
