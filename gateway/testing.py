"""Manifests tested in process, with pytest or anything else: `docs/testing-manifests.md`."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.shelf import Shelf
from gateway.adapters.http_tool.over_httpx import OverHttpx
from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.adapters.system.clock import SystemClock
from gateway.app import wire
from gateway.contract.call import Caller, ToolCall
from gateway.contract.envelope import Envelope
from gateway.manifest.building import Operator
from gateway.pipeline.core import Pipeline
from gateway.settings import Settings

_NAME: Final = "test"


class ToolCaller:
    """Calls tools of manifests as one caller, whose permissions are all that they name."""

    def __init__(self, pipeline: Pipeline, caller: Caller, provider: "_Provider") -> None:
        self._pipeline = pipeline
        self._caller = caller
        self._provider = provider

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        repeat_of: str | None = None,
    ) -> Envelope:
        """One call through all stages. The same call made again is the same operation, as in a gateway.

        Args:
            idempotency_key: the caller's own name for the operation, for tools that ask for one.
            repeat_of: id of the operation that this call means to repeat on purpose.

        Raises:
            AssertionError: the stand-in's; with respx, of a request that no route expects.
        """
        made = ToolCall(
            tool=tool, arguments=arguments, request_id=_NAME, idempotency_key=idempotency_key, repeat_of=repeat_of
        )
        try:
            return await self._pipeline.call(made, self._caller)
        finally:
            self._provider.raise_what_failed()


@contextlib.asynccontextmanager
async def tool_caller(
    manifests: Path | str,
    provider: httpx.AsyncBaseTransport,
    *,
    environment: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> AsyncIterator[ToolCaller]:
    """A gateway for the length of a block: every stage, a store in memory, no socket. Time is real.

    Args:
        manifests: the directory.
        provider: stands in for every host that the manifests name: `httpx.MockTransport(router.async_handler)` with a respx
            router, `httpx.ASGITransport(app)`. Of what it raises the request counts as sent.
        environment: what `${NAME}` stands for.
        secrets: what `${secret:NAME}` stands for.
        attributes: `caller.attributes` of rules.

    Raises:
        ValueError: the directory does not load; with every complaint.
        AssertionError: the stand-in's, of a request that was made after its call was answered.
    """
    clock = SystemClock()
    operator = Operator(engine=CelEngine(), environment=environment or {}, secrets=secrets or {})
    shelf = Shelf(Path(manifests), operator)
    telemetry = OtelTelemetry(TelemetrySettings(), clock, _NAME)
    watched = _Provider(provider)
    parts = wire(
        Settings(allow_volatile=True),
        shelf=shelf,
        store=MemoryOperationStore(clock),
        telemetry=telemetry,
        transport=OverHttpx(watched, clock),
    )
    pipeline = Pipeline(parts)
    permissions = frozenset([tool.permission for tool in shelf.catalogue.tools.values()])
    caller = Caller(subject=_NAME, tenant=_NAME, permissions=permissions, attributes=attributes or {})
    try:
        yield ToolCaller(pipeline, caller, watched)
    finally:
        await pipeline.stop()
        telemetry.close()
    watched.raise_what_failed()


class _Provider(httpx.AsyncBaseTransport):
    """The stand-in, and what a test of its own found wrong: a call may end before the send that found it."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._failed: list[AssertionError] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._inner.handle_async_request(request)
        except AssertionError as failed:
            self._failed.append(failed)
            raise

    def raise_what_failed(self) -> None:
        """Once for each."""
        if self._failed:
            raise self._failed.pop(0)
