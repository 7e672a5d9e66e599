"""Gateway processes that start while their server is away, or is not to be trusted with records."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from bench.faults import client
from bench.faults.client import Answer, Refund
from bench.nursery import forked
from bench.scenarios.oncegate import MANIFESTS, PERMISSIONS
from bench.scenarios.stage import TOOLS, Column
from bench.scenarios.target import Kind
from gateway.adapters.files.keys import create_key
from gateway.adapters.redis.memory import SCHEMA, shared_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.processes import Child, NotStartedError
from gateway.demo.provider_process import ProviderProcess
from tests import redis_servers
from tests.redis_servers import Server
from tests.waiting import eventually

pytestmark = pytest.mark.slow

EVICTS = ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")


@dataclass(slots=True, kw_only=True)
class Place:
    """A provider, a key, and a port on which a server may come to be."""

    folder: Path
    provider: ProviderProcess
    key: str
    port: int
    gateway: Child | None = None

    async def start(self, options: Mapping[str, str] | None = None) -> None:
        """Start a gateway on the port, whoever listens there."""
        self.gateway = await start_gateway(
            self.folder,
            manifests=MANIFESTS,
            provider_url=self.provider.url,
            store=f"redis://127.0.0.1:{self.port}",
            options=options,
            launch=forked,
        )

    @property
    def url(self) -> str:
        """Where the gateway listens."""
        assert self.gateway is not None
        return self.gateway.url

    async def write(self, order: str) -> Answer:
        """One refund."""
        return await client.call(self.url, self.key, Refund(order=order, tool=TOOLS[Column.PLAIN]))

    async def read(self) -> Answer:
        """One look at refunds."""
        return await client.read(self.url, self.key, "ORD-1")

    async def ready(self) -> tuple[int, str]:
        """What `/readyz` says: its status, and of the store."""
        async with httpx.AsyncClient(trust_env=False, timeout=30.0) as asking:
            answer = await asking.get(f"{self.url}/readyz")
        return answer.status_code, str(answer.json()["checks"]["store"])

    async def requests(self) -> Any:
        """The writes that have reached the provider."""
        told: Any = (await self.provider.ledger())["requests"]
        return [it for it in told if it["method"] == "POST"]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """With no server yet."""
    key, _ = create_key(tmp_path / "keys.json", subject="agent", tenant="acme", permissions=PERMISSIONS, attributes={})
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    made = Place(folder=tmp_path, provider=provider, key=key, port=redis_servers.free_port())
    try:
        yield made
    finally:
        if made.gateway is not None:
            await made.gateway.stop()
        await provider.stop()


@contextlib.contextmanager
def _served(kind: str, port: int, *arguments: str) -> Any:
    server = redis_servers.start(kind, port, *arguments)
    try:
        yield server
    finally:
        server.close()


async def test_without_its_server_it_serves_reads_and_takes_writes_when_there_is_one(place: Place, kind: str) -> None:
    """It listens, says what is missing, refuses writes quickly and sends nothing; then the server comes, and it is ready."""
    await place.start()
    refused = [await place.write(f"ORD-{number}") for number in range(3)]
    reading = await place.read()

    assert (await place.ready())[0] == 503
    assert "has not answered since the start" in (await place.ready())[1]
    assert {(it.status, it.told.code) for it in refused} == {(503, "store_unavailable")}
    assert min(it.took_s for it in refused) < 0.3
    assert reading.told.kind is Kind.DONE
    assert await place.requests() == []

    with _served(kind, place.port):

        async def ready() -> bool:
            return await place.ready() == (200, "ok")

        await eventually(ready)
        assert (await place.write("ORD-0")).told.kind is Kind.DONE
        assert len(await place.requests()) == 1


async def test_a_server_that_evicts_ends_the_start(place: Place, kind: str) -> None:
    """One sentence that says what to set, and no traceback; nobody listens."""
    with _served(kind, place.port, *EVICTS):
        with pytest.raises(NotStartedError) as refused:
            await place.start()

        said = str(refused.value)
        assert "maxmemory-policy allkeys-lru); set it to noeviction" in said
        assert "Traceback" not in said


async def test_a_server_with_another_schema_ends_the_start(place: Place, kind: str) -> None:
    """It was written by a version that this one does not know; nothing of it is changed."""
    with _served(kind, place.port) as server:
        before = {"id": "m", "servers": "s", "since": "0", "schema": str(SCHEMA + 1)}
        server.client.hset(shared_key("memory"), mapping=before)
        with pytest.raises(NotStartedError) as refused:
            await place.start()

        assert f"its records have schema {SCHEMA + 1}, and this version knows {SCHEMA}" in str(refused.value)
        assert "Traceback" not in str(refused.value)
        assert server.client.hgetall(shared_key("memory")) == before


async def test_a_wrong_password_ends_the_start(place: Place, kind: str) -> None:
    """The server is there and will say the same again; nobody is shown what was tried."""
    with _served(kind, place.port) as server:
        server.client.config_set("requirepass", "correct horse battery staple")
        with pytest.raises(NotStartedError) as refused:
            await place.start({"ONCEGATE_REDIS_PASSWORD": "wrong horse battery staple"})

        assert "AuthenticationError" in str(refused.value)
        assert "horse" not in str(refused.value)


async def test_one_that_comes_later_and_evicts_is_not_used(place: Place, kind: str) -> None:
    """Readiness says why and writes are refused; when its policy is set right they go out, without a restart."""
    await place.start()
    with _served(kind, place.port, *EVICTS) as server:

        async def found() -> bool:
            return "allkeys-lru" in (await place.ready())[1]

        await eventually(found)
        assert (await place.write("ORD-1")).told.code == "store_unavailable"
        assert (await place.read()).told.kind is Kind.DONE
        assert await place.requests() == []
        _set_right(server)

        async def taken() -> bool:
            return (await place.write("ORD-1")).told.kind is Kind.DONE

        await eventually(taken)
        assert len(await place.requests()) == 1


def _set_right(server: Server) -> None:
    client: redis.Redis = server.client
    client.config_set("maxmemory-policy", "noeviction")
