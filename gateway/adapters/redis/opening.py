"""A store on Redis from its settings, and what a gateway keeps beside it: imported where one is named.

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
from gateway.settings import Settings
from gateway.stages.execute.operation.ports import OperationStore


def open_redis(settings: Settings, sealer: Sealer | None, clock: Clock) -> RedisOperationStore:
    """A store that connects when it is first asked.

    Raises:
        ValueError: its address is malformed.
    """
    address = parse_address(settings.store)
    login = Login(
        username=address.username,
        password=None if settings.redis_password is None else settings.redis_password.get_secret_value(),
        database=address.database,
        tls=address.tls,
    )
    return RedisOperationStore(
        Client(route_to(address, login), clock),
        clock,
        sealer=sealer,
        rows_retention_s=settings.rows_retention_s,
        replicas=settings.store_wait,
    )


def beside(store: OperationStore, clock: Clock) -> tuple[RedisBreakers, RedisLimits] | None:
    """Breakers and limits on the same Redis; None: the store is on none."""
    if not isinstance(store, RedisOperationStore):
        return None
    return RedisBreakers(store.client, clock), RedisLimits(store.client, clock)
