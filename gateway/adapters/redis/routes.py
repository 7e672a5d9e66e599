"""Which server a key is on: the one there is, the one that the sentinels name, or the one with the key's slot."""

import asyncio
import contextlib
from bisect import bisect_right
from collections import Counter
from typing import Any, Final, Protocol

from redis.crc import key_slot
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import RedisError

from gateway.adapters.redis.address import Address, Kind, Node
from gateway.adapters.redis.limit import Limit
from gateway.adapters.redis.packing import packed
from gateway.adapters.redis.pool import Login, Pool, connection_to, drop

_GUIDE_S: Final = 0.1
"""How long all sentinels together are waited for, and one node of a cluster before the next is asked the way."""
_LOOKS_AGAIN_S: Final = 1.0
"""How long the sentinels' word holds while the master that they named answers."""

Word = tuple[int, Node]
"""What a sentinel says: the epoch of the failover that it knows of last (`config-epoch`), and the master since then."""


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
    """The master as the sentinels see it: the one of the latest failover that any of them knows of.

    All are asked at once. One that was cut off, or hung, names the old master for some seconds more, and that one takes writes
    until it is made a replica; so nobody is led back to a master from before a failover that is known of, whoever names it.

    They are asked again while it is in use, too: in a failover that somebody has ordered the old master is well, and takes for some
    ten seconds more what will be lost when it is made a replica.
    """

    def __init__(self, sentinels: tuple[Node, ...], master: str, login: Login) -> None:
        self._sentinels = sentinels
        self._name = master
        self._login = login
        self._pool: Pool | None = None
        self._epoch = 0
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
                self._pool = self._led_to(*await self._ask())
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
        # The epoch stays: a master from before it has not become the right one because this one does not answer.
        self._known = False

    def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
        if self._pool is not None:
            self._pool.close()

    async def _follow(self) -> None:
        # Where no sentinel answers, or only such as know less, the master that answers is the best that is known.
        with contextlib.suppress(RedisError, OSError):
            async with self._asking:
                self._pool = self._led_to(*await self._ask())

    def _followed(self, _: "asyncio.Task[None]") -> None:
        self._following = None
        self._asked_at = asyncio.get_running_loop().time()

    def _led_to(self, word: Word, voices: int) -> Pool:
        """The connections to this master, which so many name; those to another are given up.

        Raises:
            NotConnectedError: it is another than the one that is followed, and from before it or named by few.
        """
        epoch, node = word
        pool = self._pool
        if pool is None or pool.node != node:
            if epoch < self._epoch:
                raise NotConnectedError(
                    f"the sentinels that answer name a master {self._name} from before a failover (config-epoch {epoch},"
                    f" known is {self._epoch}); if they were set up anew, restart the gateway"
                )
            if pool is not None:
                # A sentinel that is reset in the midst of a failover names the old master again, with the new number.
                if epoch == self._epoch and voices * 2 <= len(self._sentinels):
                    raise NotConnectedError(
                        f"{voices} of {len(self._sentinels)} sentinels name another master {self._name} than the one that is"
                        f" known of the same failover (config-epoch {epoch}), and the others do not answer, or do not agree"
                    )
                pool.close()
            pool = Pool(node, self._login)
        self._epoch = max(self._epoch, epoch)
        self._known = True
        self._asked_at = asyncio.get_running_loop().time()
        return pool

    async def _ask(self) -> tuple[Word, int]:
        """The word with the highest epoch, and how many say so. Who has not answered in time is not waited for, and nothing of it stays open."""
        asked = [asyncio.create_task(_word_of(each, self._login, self._name)) for each in self._sentinels]
        try:
            with contextlib.suppress(TimeoutError):
                async with Limit(_GUIDE_S):
                    await asyncio.wait(asked)
        finally:
            for task in asked:
                task.cancel()
        words = [word for task in asked if task.done() and (word := task.result()) is not None]
        if not words:
            raise NotConnectedError(f"no sentinel names a master {self._name}")
        epoch = max(words)[0]
        votes = Counter(node for its, node in words if its == epoch)
        followed = None if self._pool is None else self._pool.node
        node = max(votes, key=lambda node: (votes[node], node == followed))
        return (epoch, node), votes[node]


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
    return (await _ask_all(node, login, command))[0]


async def _ask_all(node: Node, login: Login, *commands: tuple[str, ...]) -> list[Any]:
    """The same with several, which go out together; raises the first error that is among the answers."""
    connection = connection_to(node, login)
    try:
        await connection.connect()
        await connection.send_packed_command(b"".join([packed(each) for each in commands]), check_health=False)
        return [await connection.read_response() for _ in commands]
    finally:
        drop(connection)


async def _word_of(sentinel: Node, login: Login, name: str) -> Word | None:
    """What a sentinel says of a master; None: nothing that can be used.

    The epoch is asked for first. Sentinel changes epoch and address in one step: the one that leads a failover when the promoted
    replica says that it is a master (`SENTINEL MASTER` goes on showing the old address until the others have been told,
    `GET-MASTER-ADDR-BY-NAME` does not), each other one when it hears of that. So the address, read later, is that of this epoch
    or of a later one; the other way round an old address could come with the new epoch, and would be followed.
    """
    try:
        master, address = await _ask_all(
            sentinel, Login(tls=login.tls), ("SENTINEL", "MASTER", name), ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)
        )
        told = master if isinstance(master, dict) else dict(zip(master[::2], master[1::2], strict=True))
        return int(told[b"config-epoch"]), (address[0].decode(), int(address[1]))
    except (RedisError, OSError, ValueError, TypeError, LookupError, AttributeError):
        # It does not answer, does not know the master, or is no sentinel.
        return None


def route_to(address: Address, login: Login) -> Route:
    """The route that an address calls for."""
    match address.kind:
        case Kind.ONE:
            return OneServer(address.nodes[0], login)
        case Kind.SENTINEL:
            return Sentinels(address.nodes, address.master, login)
        case Kind.CLUSTER:
            return Cluster(address.nodes, login)
