"""The stores under test, each behind the same few handles. A third one needs one more class and one more name."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.redis.address import parse_address
from gateway.adapters.redis.client import Client
from gateway.adapters.redis.packing import Value
from gateway.adapters.redis.pool import Login
from gateway.adapters.redis.routes import route_to
from gateway.adapters.redis.store import RedisOperationStore
from gateway.adapters.sqlite.host import Host, filesystem_type
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import OperationStore
from tests import redis_servers
from tests.clocks import ManualClock

SEAL_KEY: Final = "k1:" + "QUFB" * 10 + "QUE="
"""32 bytes that seal nothing of value."""
ROWS_RETENTION_S: Final = 3_600.0


class Harness(Protocol):
    """A kind of store, and one memory of it that a test may open more than once."""

    clock: ManualClock

    async def open(self) -> OperationStore:
        """The store, or one more process's view of the same memory."""
        ...

    async def close(self) -> None:
        """Close whatever was opened."""
        ...


class MemoryHarness:
    """The memory lives in the one store object."""

    def __init__(self, clock: ManualClock, _: Path) -> None:
        self.clock = clock
        self._store = MemoryOperationStore(clock, rows_retention_s=ROWS_RETENTION_S)

    async def open(self) -> OperationStore:
        """Always the same one."""
        return self._store

    async def close(self) -> None:
        """Forget everything."""
        await self._store.close()


class SqliteHarness:
    """The memory is a file; each `open` is a pair of connections of its own, as another process has them."""

    def __init__(self, clock: ManualClock, folder: Path) -> None:
        self.clock = clock
        self.path = folder / "operations.db"
        self.host = host(clock)
        self._opened: list[SqliteOperationStore] = []

    async def open(self) -> SqliteOperationStore:
        """One more process's view of the file."""
        store = SqliteOperationStore.open(
            self.path, host=self.host, sealer=Sealer.parse(SEAL_KEY), rows_retention_s=ROWS_RETENTION_S
        )
        self._opened.append(store)
        return store

    async def close(self) -> None:
        """Close every view."""
        while self._opened:
            await self._opened.pop().close()


class TimedClient(Client):
    """A client whose server's clock is in the test's hand."""

    _HEAD = "local function now() return redis.call('GET', 'test:clock') end"

    def __init__(self, server: redis_servers.Server, clock: ManualClock) -> None:
        super().__init__(
            route_to(parse_address(server.url), Login(timeout_s=5.0)), clock, timeout_s=5.0, clock_head=self._HEAD
        )
        self._server = server
        self._hand = clock

    async def ask(
        self, name: str, key: str, values: tuple[Value, ...] = (), *, replicas: int = 0, met: bool = True
    ) -> list[Any]:
        """Ask, once the server has the time."""
        self._server.client.set("test:clock", repr(self._hand.monotonic()))
        return await super().ask(name, key, values, replicas=replicas, met=met)


class RedisHarness:
    """The memory is a server, empty at first; each `open` has connections of its own, as another gateway has."""

    def __init__(self, kind: str, clock: ManualClock, _: Path) -> None:
        redis_servers.need(kind)
        self.clock = clock
        self.server = redis_servers.shared(kind)
        self.server.client.flushall()
        self._opened: list[RedisOperationStore] = []

    async def open(self) -> RedisOperationStore:
        """One more gateway's view of the server."""
        client = TimedClient(self.server, self.clock)
        store = RedisOperationStore(
            client, self.clock, sealer=Sealer.parse(SEAL_KEY), rows_retention_s=ROWS_RETENTION_S
        )
        self._opened.append(store)
        return store

    async def close(self) -> None:
        """Close every view."""
        while self._opened:
            await self._opened.pop().close()


def host(clock: ManualClock, **changes: str | None) -> Host:
    """A machine whose clocks are in the test's hand."""
    made = Host(
        boot_id="boot-1",
        host_id="host-1",
        boottime=clock.monotonic,
        wall=clock.wall,
        filesystem_type=filesystem_type,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # the ids are its only strings


STORES: Final[dict[str, Callable[[ManualClock, Path], Harness]]] = {
    "memory": MemoryHarness,
    "sqlite": SqliteHarness,
    **{kind: partial(RedisHarness, kind) for kind in redis_servers.KINDS},
}
