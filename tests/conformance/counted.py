"""Two gateways' views of the same rates and budgets, on each kind of store."""

from pathlib import Path
from typing import Protocol

from gateway.adapters.memory.limits import MemoryLimits
from gateway.adapters.redis.limits import RedisLimits
from gateway.adapters.redis.memory import Memory
from gateway.adapters.sqlite.limits import SqliteLimits
from gateway.at_rest.sealing import Sealer
from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.ports import SharedBuckets, Spending
from gateway.stages.execute.breaker.rate import Quota
from tests import redis_servers
from tests.clocks import ManualClock
from tests.conformance.stores import TimedClient, host

MINUTE = Rate(count=3, per_s=60.0)


class Limits(SharedBuckets, Spending, Protocol):
    """Both ports, as every adapter has them."""


class Counted:
    """Two gateways' views of the same limits, and their clock."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.clock = ManualClock()
        self.kind = kind
        self._closing: list[TimedClient | SqliteLimits] = []
        self.one, self.other = self._two(folder)

    def _two(self, folder: Path) -> tuple[Limits, Limits]:
        if self.kind == "memory":
            alone = MemoryLimits(self.clock)
            return alone, alone
        if self.kind == "sqlite":
            files = [SqliteLimits(folder / "records.db-limits", host(self.clock)) for _ in range(2)]
            self._closing += files
            return files[0], files[1]
        redis_servers.need(self.kind)
        server = redis_servers.shared(self.kind)
        server.client.flushall()
        clients = [TimedClient(server, self.clock) for _ in range(2)]
        for client in clients:
            Memory(client, Sealer())
        self._closing += clients
        return RedisLimits(clients[0], self.clock), RedisLimits(clients[1], self.clock)

    def close(self) -> None:
        """Let go."""
        for it in self._closing:
            it.close()


def quota(key: str, rate: Rate = MINUTE, partition: str = "acme") -> Quota:
    """One bucket."""
    return Quota(name=key, partition=partition, key=key, rate=rate)
