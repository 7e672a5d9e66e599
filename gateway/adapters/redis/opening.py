"""A store on Redis from its address, and what a gateway keeps beside it: imported where one is named.

The library and all that speaks it are six megabytes of a process that never asks a Redis anything.
"""

from gateway.adapters.redis.address import parse_address
from gateway.adapters.redis.breakers import RedisBreakers
from gateway.adapters.redis.client import Client
from gateway.adapters.redis.limits import RedisLimits
from gateway.adapters.redis.pool import Login
from gateway.adapters.redis.routes import route_to
from gateway.adapters.redis.store import RedisOperationStore
from gateway.at_rest.sealing import Sealer
from gateway.clock import Clock
from gateway.stages.execute.operation.ports import OperationStore


def open_redis(
    url: str,
    clock: Clock,
    *,
    password: str | None = None,
    sealer: Sealer | None = None,
    rows_retention_s: float | None = None,
    replicas: int = 0,
) -> RedisOperationStore:
    """A store that connects when it is first asked. The last three are those of `RedisOperationStore`.

    Raises:
        ValueError: its address is malformed.
    """
    address = parse_address(url)
    login = Login(username=address.username, password=password, database=address.database, tls=address.tls)
    return RedisOperationStore(
        Client(route_to(address, login), clock),
        clock,
        sealer=sealer,
        rows_retention_s=rows_retention_s,
        replicas=replicas,
    )


def beside(store: OperationStore, clock: Clock) -> tuple[RedisBreakers, RedisLimits]:
    """Breakers and limits on the same Redis.

    Raises:
        TypeError: the store is on none.
    """
    if not isinstance(store, RedisOperationStore):
        raise TypeError(f"nobody knows where the breakers and limits of {store!r} are")
    return RedisBreakers(store.client, clock), RedisLimits(store.client, clock)
