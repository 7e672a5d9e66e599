"""The real gateway on a real port, a provider behind it, and callers before it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from opentelemetry.sdk.trace.export import SpanExporter

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.keys import KeyFile, create_key
from gateway.adapters.files.shelf import Shelf
from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.adapters.redis.store import RedisOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.app import open_callers, open_store, wire
from gateway.fronts.build import build
from gateway.fronts.http.server import Server, bind
from gateway.manifest.building import Operator
from gateway.pipeline.core import Pipeline
from gateway.settings import Settings
from gateway.stages.execute.attempt.ports import ToolTransport
from gateway.stages.execute.operation.ports import OperationStore
from tests.gateway.pipeline.provider import Provider
from tests.gateway.pipeline.rig import read

TENANT: Final = "acme"
PERMISSIONS: Final = ("things:read", "things:write", "operations:read", "operations:settle", "executions:read")
STARTS_WITHIN_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer. `envelope` is its body, parsed."""

    status: int
    headers: Mapping[str, str]
    envelope: Any

    @property
    def code(self) -> str | None:
        """The error's code; None when it is ok."""
        return None if self.envelope["ok"] else str(self.envelope["error"]["code"])

    @property
    def operation_id(self) -> str:
        """The operation it is about."""
        return str(self.envelope["meta"]["operation_id"])


@dataclass(slots=True)
class Stand:
    """One gateway, its provider, and a caller's key."""

    folder: Path
    provider: Provider
    server: Server
    port: int
    client: httpx.AsyncClient
    reader: str
    """The key of the same subject, who may only read with it."""
    lead: str
    """The key of somebody else, who may approve."""
    tasks: list["asyncio.Task[Any]"] = field(default_factory=list)

    @property
    def store(self) -> Path:
        """The SQLite file."""
        return self.folder / "records.db"

    async def call(
        self,
        order: str = "A",
        amount: Any = 5,
        *,
        tool: str = "act",
        body: Mapping[str, Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
        **headers: str,
    ) -> Answer:
        """`POST /v1/tools/{tool}/calls`; a header's name with underscores for dashes."""
        given = {"order": order} if tool == "get_status" else {"order": order, "amount": amount}
        document = {"arguments": given if arguments is None else arguments, **(body or {})}
        return await self.post(f"/v1/tools/{tool}/calls", json.dumps(document).encode(), **headers)

    async def soon(self, *args: Any, **kwargs: Any) -> "asyncio.Task[Answer]":
        """The same beside the test, once the provider has a write in its hands."""
        before = len(self.provider.sent)
        task = asyncio.create_task(self.call(*args, **kwargs))
        self.tasks.append(task)
        await self.provider.until_sent(before + 1)
        return task

    async def post(self, path: str, content: bytes = b"{}", **headers: str) -> Answer:
        """POST a body as JSON."""
        named = {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        return answer_of(await self.client.post(path, content=content, headers=named))

    async def get(self, path: str, **query: str) -> Answer:
        """GET."""
        return answer_of(await self.client.get(path, params=query))


def answer_of(response: httpx.Response) -> Answer:
    """An answer as the checks read it."""
    return Answer(status=response.status_code, headers=dict(response.headers), envelope=response.json())


def new_key(folder: Path, *permissions: str, tenant: str = TENANT, subject: str = "agent", **attributes: Any) -> str:
    """A caller's key; the file gets its hash."""
    made, _ = create_key(
        folder / "keys.json", subject=subject, tenant=tenant, permissions=permissions, attributes=attributes
    )
    return made


Wrap = Callable[[ToolTransport], ToolTransport]


@contextlib.asynccontextmanager
async def standing(
    folder: Path,
    *manifests: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    origin: Callable[[Provider], str] = lambda provider: provider.origin,
    private: bool = True,
    wrap: Wrap = lambda transport: transport,
    spans: SpanExporter | None = None,
) -> AsyncIterator[Stand]:
    """A gateway with these manifests and the read `get_status`.

    Args:
        origin: where the tools' requests go.
        private: whether the operator allows that address.
        wrap: puts something before the transport.
        spans: where they go.
    """
    provider = Provider()
    await provider.start()
    where = origin(provider)
    _write(folder / "manifests", manifests)
    chosen = _settings(folder, where if private else None, settings or {})
    key, reader = new_key(folder, *PERMISSIONS), new_key(folder, "things:read")
    lead = new_key(folder, "things:approve", "operator:breakers:force", subject="lead", most=5)
    telemetry = OtelTelemetry(TelemetrySettings(server_spans=spans is not None), SystemClock(), "0", spans=spans)
    core, ready = _core(chosen, where, telemetry, wrap), asyncio.Event()
    listening = bind(chosen)
    port = listening.getsockname()[1]
    server = Server(
        build(core, open_callers(chosen, KeyFile(chosen.keys))[0], chosen, telemetry),
        core,
        chosen,
        announce=lambda _host, _port: ready.set(),
    )
    running = asyncio.create_task(server.serve([listening]))
    await asyncio.wait_for(ready.wait(), STARTS_WITHIN_S)
    client = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers={"authorization": f"Bearer {key}"}, timeout=STARTS_WITHIN_S
    )
    stand = Stand(folder=folder, provider=provider, server=server, port=port, client=client, reader=reader, lead=lead)
    try:
        yield stand
    finally:
        await provider.stop()
        await asyncio.gather(*stand.tasks, return_exceptions=True)
        await client.aclose()
        server.should_exit = True
        await running
        telemetry.close()


def _write(directory: Path, manifests: tuple[Mapping[str, Any], ...]) -> None:
    directory.mkdir()
    named = {it["name"]: it for it in (read(), *manifests)}
    for name, manifest in named.items():
        (directory / f"{name}.yaml").write_text(json.dumps(manifest, indent=1))


def _settings(folder: Path, private: str | None, changes: Mapping[str, Any]) -> Settings:
    return Settings.model_validate(
        {
            "port": 0,
            "manifests": folder / "manifests",
            "store": f"sqlite:///{folder / 'records.db'}",
            "keys": folder / "keys.json",
            "allow_private": () if private is None else (urlsplit(private).netloc,),
            "reload_interval_s": 0,
            **changes,
        }
    )


def _core(settings: Settings, origin: str, telemetry: OtelTelemetry, wrap: Wrap) -> Pipeline:
    parts = wire(
        settings,
        shelf=Shelf(settings.manifests, Operator(engine=CelEngine(), environment={"API": origin}, secrets={})),
        store=_patient(open_store(settings)),
        telemetry=telemetry,
        transport=wrap(HttpToolTransport(SystemClock(), egress=EgressPolicy(settings.allow_private))),
    )
    return Pipeline(parts)


def _patient(store: OperationStore) -> OperationStore:
    """What is shown here is no haste: a server on a busy machine has its time."""
    if isinstance(store, RedisOperationStore):
        store.client.timeout_s = STARTS_WITHIN_S
    return store
