"""Which server a key is on: the one there is, the one that the sentinels name, or the one with the key's slot."""

from typing import Protocol

from gateway.adapters.redis.address import Address, Kind, Node
from gateway.adapters.redis.cluster import Cluster
from gateway.adapters.redis.pool import Login, Pool
from gateway.adapters.redis.sentinels import Sentinels


class Route(Protocol):
    """Finds servers. What it raises is the library's."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What an operator must know of those who are asked the way: a sentence each."""
        ...

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

    @property
    def caveats(self) -> tuple[str, ...]:
        return ()

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


def route_to(address: Address, login: Login) -> Route:
    """The route that an address calls for."""
    match address.kind:
        case Kind.ONE:
            return OneServer(address.nodes[0], login)
        case Kind.SENTINEL:
            return Sentinels(address.nodes, address.master, login)
        case Kind.CLUSTER:
            return Cluster(address.nodes, login)
