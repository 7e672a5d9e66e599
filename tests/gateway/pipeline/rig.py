"""The real pipeline on real edges: a SQLite file, the transport, a provider on a socket, manifests in a directory."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.shelf import Shelf
from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.memory.breakers import MemoryBreakers
from gateway.adapters.memory.limits import MemoryBulkheads, MemoryLimits
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.adapters.sqlite.host import Host, filesystem_type
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.app import Shared, wire
from gateway.contract.call import Caller, ToolCall
from gateway.contract.envelope import Envelope
from gateway.contract.execution import ExecutionRow
from gateway.contract.requests import OperationQuery
from gateway.manifest.building import Operator
from gateway.pipeline.core import Pipeline
from gateway.pipeline.parts import Parts
from gateway.settings import Settings
from gateway.stages.execute.operation.ports import OperationFilter, OperationStore, RowFilter
from gateway.stages.execute.operation.record import Record, State
from tests.gateway.manifest.sample import KEYED, PLAIN, READ, REMOVED, changed
from tests.gateway.pipeline.provider import Provider, cut, listing
from tests.waiting import PATIENCE_S, eventually

ALL: Final = frozenset({"things:read", "things:write"})
CALLER: Final = Caller(subject="agent", tenant="acme", permissions=ALL)

# Real time, but little of it: what a test waits for is an event, and what it lets pass is a timeout of these.
TIMES: Final[Mapping[str, Any]] = {
    "timeouts": {
        "connect": "200ms",
        "write": "5s",
        "read": "150ms",
        "pool": "20s",
        "total": "20s",
        "grace": "10s",
        "min_send": "20ms",
    },
    "retry": {"base": "5ms", "cap": "10ms", "budget": 1.0},
}
_READ_TIMES: Final = changed(TIMES, {"timeouts.grace": REMOVED, "timeouts.min_send": REMOVED})


def read(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`get_status`, a read."""
    return changed({**READ, **_READ_TIMES}, changes)


def keyed(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`act` with a downstream key, and nothing else that could settle it."""
    return changed({**KEYED, **TIMES}, {"reconcile": REMOVED, **(changes or {})})


def looked_up(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`act` without a key, settled by the look-up `get_status`; it tells what is ours by what was there before."""
    match = "!(item.id in baseline) && item.n == args.amount"
    quick = {"reconcile.inline": "100ms", "reconcile.provider_max": "1s", "reconcile.lookup.confirm_every": "1s"}
    removed = {"downstream_key": REMOVED, "reconcile.lookup.match": match}
    return changed({**KEYED, **TIMES}, {**removed, **quick, **(changes or {})})


def ending(total: str, grace: str = "10s") -> dict[str, Any]:
    """Changes for a tool whose calls end after `total`: no part of one may be allowed longer."""
    return {"timeouts.total": total, "timeouts.write": total, "timeouts.pool": total, "timeouts.grace": grace}


def plain(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`act` that only a person can settle; it holds its order."""
    return changed({**PLAIN, **TIMES}, changes)


ONE_SLOT: Final[Mapping[str, Any]] = {"limits.concurrency": 1, "timeouts.read": "20s"}
"""Changes for a tool that sends one call at a time, whose caller waits for as long as the test says."""


@dataclass(slots=True)
class StoreClock:
    """The store's clocks: real time, and what a test adds to it."""

    ahead_s: float = 0.0
    wall_ahead_s: float = 0.0

    def host(self) -> Host:
        """A machine that has them."""
        return Host(
            boot_id="boot",
            host_id="host",
            boottime=lambda: time.monotonic() + self.ahead_s,
            wall=lambda: time.time() + self.ahead_s + self.wall_ahead_s,
            filesystem_type=filesystem_type,
        )


@dataclass(slots=True)
class Rig:
    """One gateway, and the world around it. `also` makes a second gateway on the same store."""

    provider: Provider
    clock: StoreClock
    store: OperationStore
    parts: Parts
    pipeline: Pipeline
    shelf: Shelf
    manifests: Path
    wrapped: bool = False
    """The store is one before the real one: breakers and limits are then each gateway's own."""
    faults: list[BaseException] = field(default_factory=list)
    others: list[Pipeline] = field(default_factory=list)

    async def call(
        self,
        order: str = "A",
        amount: int = 5,
        *,
        tool: str = "act",
        caller: Caller = CALLER,
        arguments: Mapping[str, Any] | None = None,
        at: Pipeline | None = None,
        **call: Any,
    ) -> Envelope:
        """One call, and its answer."""
        given = {"order": order} if tool == "get_status" else {"order": order, "amount": amount}
        made = ToolCall(tool=tool, arguments={**given, **(arguments or {})}, request_id="r", **call)
        return await (at or self.pipeline).call(made, caller)

    async def prepare(self, order: str = "A", amount: int = 5, **call: Any) -> Mapping[str, Any]:
        """What `prepare` answers."""
        made = ToolCall(tool="act", arguments={"order": order, "amount": amount}, request_id="r", **call)
        envelope = await self.pipeline.prepare(made, CALLER)
        assert envelope.ok, envelope
        return dict(envelope.data)

    def soon(self, *args: Any, **kwargs: Any) -> "asyncio.Task[Envelope]":
        """The same beside the test."""
        return asyncio.create_task(self.call(*args, **kwargs))

    def also(self, parts: Parts | None = None) -> Pipeline:
        """Another gateway process on the same store, as far as one process can show it."""
        fresh = wire(
            Settings(),
            shelf=self.shelf,
            store=self.store,
            telemetry=OtelTelemetry(TelemetrySettings(), SystemClock(), "0"),
            transport=self.parts.transport,
            shared=_shared(wrapped=self.wrapped),
            faults=self.parts.faults,
        )
        made = Pipeline(parts or replace(fresh, choices=self.parts.choices))
        self.others.append(made)
        return made

    async def rows(self, at_least: int = 0, *, tenant: str = "acme") -> list[ExecutionRow]:
        """Every row, oldest first; those that are committed in groups are waited for by their number."""
        found: list[ExecutionRow] = []

        async def there() -> bool:
            found[:] = reversed(await self.store.list_rows(RowFilter(tenant=tenant, limit=1000)))
            return len(found) >= at_least

        await eventually(there)
        return found

    async def records(self, tenant: str = "acme") -> list[Record]:
        """Every record, oldest first."""
        return list(reversed(await self.store.list_operations(OperationFilter(tenant=tenant, limit=1000))))

    async def record(self) -> Record:
        """The only record."""
        (record,) = await self.records()
        return record

    async def waiting(self, pipeline: Pipeline, calls: int = 1) -> None:
        """Wait until so many calls of this gateway wait for another's operation: a seat taken is no event of the product."""
        await eventually(lambda: sum(len(seats) for seats in pipeline._writes._room._queues.values()) >= calls)

    async def until(self, *states: State, order: str = "A") -> Record:
        """Wait until the latest record of this order is in one of these states. One that sent nothing keeps no order."""
        found: list[Record] = []
        nameless = order if State.FREE in states else None

        async def stands_there() -> bool:
            found[:] = [r for r in await self.records() if r.bodies.arguments.get("order", nameless) == order]
            return bool(found) and found[-1].state in states

        await eventually(stands_there)
        return found[-1]

    async def reconcile(self, operation_id: str | None) -> Mapping[str, Any]:
        """Look now; the operation as it is then shown."""
        assert operation_id is not None
        envelope = await self.pipeline.reconcile(operation_id, CALLER)
        assert envelope.ok, envelope
        return dict(envelope.data)

    async def operations(self, **query: Any) -> list[Mapping[str, Any]]:
        """What a caller sees of operations."""
        envelope = await self.pipeline.operations(OperationQuery(**query), CALLER)
        return list(envelope.data["operations"])


async def queued(gateway: Rig, tool: str = "act", *, calls: int = 1) -> None:
    """Wait until so many calls of this tool wait for a slot: they have looked at their records, and send next."""
    bulkheads = gateway.parts.bulkheads
    assert isinstance(bulkheads, MemoryBulkheads)
    await eventually(lambda: len(bulkheads.counts(tool).queue) >= calls)


async def absent(gateway: Rig) -> str:
    """A write in doubt that was never carried out, with a look-up that says so; its id."""
    gateway.provider.every_read = listing()
    gateway.provider.writes += [cut]
    envelope = await gateway.call()
    assert envelope.meta.operation_id is not None
    return envelope.meta.operation_id


def _shared(*, wrapped: bool) -> Shared | None:
    return (MemoryBreakers(SystemClock()), MemoryLimits(SystemClock())) if wrapped else None


def noted(faults: list[BaseException]) -> Callable[[str, BaseException], None]:
    """Keeps faults that no caller is told of."""

    def note(where: str, error: BaseException) -> None:
        error.add_note(where)
        faults.append(error)

    return note


Wrap = Callable[[OperationStore], OperationStore]


@asynccontextmanager
async def rigged(
    folder: Path,
    *manifests: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    wrap: Wrap | None = None,
    store: Callable[[StoreClock], OperationStore] | None = None,
    telemetry: OtelTelemetry | None = None,
    secrets: Mapping[str, str] | None = None,
    started: bool = False,
    provider: Provider | None = None,
) -> AsyncIterator[Rig]:
    """A gateway with these manifests (and the read `get_status`, if it is not among them)."""
    provider = provider or Provider()
    await provider.start()
    clock = StoreClock()
    shelf_dir = folder / "manifests"
    shelf_dir.mkdir()
    named = {it["name"]: it for it in ({"name": "get_status"}, *manifests)}
    for name, manifest in named.items():
        written = read() if len(manifest) == 1 else manifest
        (shelf_dir / f"{name}.yaml").write_text(json.dumps(written, indent=1))
    operator = Operator(engine=CelEngine(), environment={"API": provider.origin}, secrets=secrets or {})
    shelf = Shelf(shelf_dir, operator)
    inner = store(clock) if store else SqliteOperationStore.open(folder / "records.db", host=clock.host())
    kept = wrap(inner) if wrap else inner
    heard = telemetry or OtelTelemetry(TelemetrySettings(), SystemClock(), "0")
    transport = HttpToolTransport(SystemClock(), egress=EgressPolicy((f"127.0.0.1:{provider.port}",)))
    faults: list[BaseException] = []
    parts = wire(
        Settings.model_validate(settings or {}),
        shelf=shelf,
        store=kept,
        telemetry=heard,
        transport=transport,
        shared=_shared(wrapped=wrap is not None),
        faults=noted(faults),
    )
    rig = Rig(
        provider=provider,
        clock=clock,
        store=kept,
        parts=parts,
        pipeline=Pipeline(parts),
        shelf=shelf,
        manifests=shelf_dir,
        wrapped=wrap is not None,
        faults=faults,
    )
    if started:
        await rig.pipeline.start()
    try:
        yield rig
        assert not rig.faults, rig.faults
    finally:
        await provider.stop()
        # They share the store, which the first to stop closes.
        for pipeline in (*rig.others, rig.pipeline):
            await pipeline.drain(PATIENCE_S)
        for pipeline in (*rig.others, rig.pipeline):
            await pipeline.stop()
        heard.close()
