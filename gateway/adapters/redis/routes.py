"""Which server a key is on: the one there is, the one that the sentinels name, or the one with the key's slot."""

import asyncio
import contextlib
from bisect import bisect_right
from typing import Any, Final, Protocol

from redis.crc import key_slot
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import RedisError

from gateway.adapters.redis.address import Address, Kind, Node
from gateway.adapters.redis.pool import Login, Pool, connection_to, drop

_GUIDE_S: Final = 0.1
"""How long one sentinel, or one node of a cluster, is waited for before the next is asked the way."""
_LOOKS_AGAIN_S: Final = 1.0
"""How long a sentinel's word holds while the master that it named answers."""


class Route(Protocol):
    """Finds servers. What it raises is the library's."""

    async def pool_of(self, key: str) -> Pool:
        """Connections to the master that `key` is on."""
        ...

    def near(self, key: str) -> Pool | None:
        """The same where it is known; None: it has to be asked for."""
        ...

    async def masters(self) -> tuple[Pool, ...]:
        """Connections to every master."""
        ...

    def forget(self) -> None:
        """Ask anew next time: what was known has led to a server that does not answer, or is no master."""
        ...

    def close(self) -> None: ...


class OneServer:
    """The server of the address."""

    def __init__(self, node: Node, login: Login) -> None:
        self._pool = Pool(node, login)

    async def pool_of(self, key: str) -> Pool:
        del key
        return self._pool

    def near(self, key: str) -> Pool | None:
        del key
        return self._pool

    async def masters(self) -> tuple[Pool, ...]:
        return (self._pool,)

    def forget(self) -> None:
        """Nothing is known but the address."""

    def close(self) -> None:
        self._pool.close()


class Sentinels:
    """The master as the sentinels see it; the first that answers is believed.

    They are asked again while it is in use, too: in a failover that somebody has ordered the old master is well, and takes for some
    ten seconds more what will be lost when it is made a replica.
    """

    def __init__(self, sentinels: tuple[Node, ...], master: str, login: Login) -> None:
        self._sentinels = sentinels
        self._name = master
        self._login = login
        self._pool: Pool | None = None
        self._known = False
        self._asking = asyncio.Lock()
        self._asked_at = 0.0
        self._following: asyncio.Task[None] | None = None

    async def pool_of(self, key: str) -> Pool:
        pool = self.near(key)
        if pool is not None:
            return pool
        async with self._asking:
            if self._pool is None or not self._known:
                self._pool = self._led_to(await self._ask())
            return self._pool

    def near(self, key: str) -> Pool | None:
        del key
        if not self._known:
            return None
        loop = asyncio.get_running_loop()
        if self._following is None and loop.time() - self._asked_at >= _LOOKS_AGAIN_S:
            self._following = loop.create_task(self._follow())
            self._following.add_done_callback(self._followed)
        return self._pool

    async def masters(self) -> tuple[Pool, ...]:
        return (await self.pool_of(""),)

    def forget(self) -> None:
        self._known = False

    def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
        if self._pool is not None:
            self._pool.close()

    async def _follow(self) -> None:
        # Where no sentinel answers, the master that answers is the best that is known.
        with contextlib.suppress(RedisError, OSError):
            async with self._asking:
                self._pool = self._led_to(await self._ask())

    def _followed(self, _: "asyncio.Task[None]") -> None:
        self._following = None
        self._asked_at = asyncio.get_running_loop().time()

    def _led_to(self, node: Node) -> Pool:
        """The connections to this master; those to another are given up."""
        pool = self._pool
        if pool is None or pool.node != node:
            if pool is not None:
                pool.close()
            pool = Pool(node, self._login)
        self._known = True
        self._asked_at = asyncio.get_running_loop().time()
        return pool

    async def _ask(self) -> Node:
        for sentinel in self._sentinels:
            try:
                async with asyncio.timeout(_GUIDE_S):
                    told = await ask(
                        sentinel, Login(tls=self._login.tls), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._name
                    )
            except (RedisError, OSError):
                continue
            if told:
                return told[0].decode(), int(told[1])
        raise NotConnectedError(f"no sentinel names a master {self._name}")


class Cluster:
    """A cluster's masters, by the slots they have. A slot on its way to another master is away until it is there."""

    def __init__(self, nodes: tuple[Node, ...], login: Login) -> None:
        self._seeds = nodes
        self._login = login
        self._pools: dict[Node, Pool] = {}
        self._starts: list[int] = []
        self._owners: list[Node] = []
        self._asking = asyncio.Lock()

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
                async with asyncio.timeout(_GUIDE_S):
                    told = await ask(node, self._login, "CLUSTER", "SLOTS")
            except (RedisError, OSError):
                continue
            # An empty name stands for the one that the node was asked under.
            return sorted((start, (master[0].decode() or node[0], master[1])) for start, _, master, *_ in told)
        raise NotConnectedError("no node of the cluster answers")


async def ask(node: Node, login: Login, *command: str) -> Any:
    """One question to a node that need not be a master, on a connection of its own.

    Raises:
        RedisError, OSError: no answer.
    """
    connection = connection_to(node, login)
    try:
        await connection.connect()
        await connection.send_command(*command, check_health=False)
        return await connection.read_response()
    finally:
        drop(connection)


def route_to(address: Address, login: Login) -> Route:
    """The route that an address calls for."""
    match address.kind:
        case Kind.ONE:
            return OneServer(address.nodes[0], login)
        case Kind.SENTINEL:
            return Sentinels(address.nodes, address.master, login)
        case Kind.CLUSTER:
            return Cluster(address.nodes, login)
