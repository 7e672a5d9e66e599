"""A cluster's masters."""

import asyncio
from bisect import bisect_right

from redis.crc import key_slot
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import RedisError

from gateway.adapters.redis.address import Node
from gateway.adapters.redis.guides import GUIDE_S, ask
from gateway.adapters.redis.pool import Login, Pool


class Cluster:
    """A cluster's masters, by the slots they have. A slot on its way to another master is away until it is there."""

    def __init__(self, nodes: tuple[Node, ...], login: Login) -> None:
        self._seeds = nodes
        self._login = login
        self._pools: dict[Node, Pool] = {}
        self._starts: list[int] = []
        self._owners: list[Node] = []
        self._asking = asyncio.Lock()

    @property
    def caveats(self) -> tuple[str, ...]:
        return ()

    async def pool_of(self, key: str) -> Pool:
        await self._learn()
        pool = self.near(key)
        if pool is None:
            raise NotConnectedError("no node has the slot")
        return pool

    def near(self, key: str) -> Pool | None:
        place = bisect_right(self._starts, key_slot(key.encode())) - 1
        return None if place < 0 else self._pool(self._owners[place])

    async def masters(self) -> tuple[Pool, ...]:
        await self._learn()
        return tuple(self._pool(node) for node in dict.fromkeys(self._owners))

    def forget(self) -> None:
        self._starts, self._owners = [], []

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def _pool(self, node: Node) -> Pool:
        pool = self._pools.get(node)
        if pool is None:
            pool = self._pools[node] = Pool(node, self._login)
        return pool

    async def _learn(self) -> None:
        if self._starts:
            return
        async with self._asking:
            if not self._starts:
                ranges = await self._ask()
                self._starts = [start for start, _ in ranges]
                self._owners = [node for _, node in ranges]

    async def _ask(self) -> list[tuple[int, Node]]:
        for node in dict.fromkeys((*self._pools, *self._seeds)):
            try:
                async with asyncio.timeout(GUIDE_S):
                    [told] = await ask(node, self._login, ("CLUSTER", "SLOTS"))
            except (RedisError, OSError):
                continue
            # An empty name stands for the one that the node was asked under.
            return sorted((start, (master[0].decode() or node[0], master[1])) for start, _, master, *_ in told)
        raise NotConnectedError("no node of the cluster answers")
