"""A store on Redis from its settings."""

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.redis.breakers import RedisBreakers
from gateway.adapters.redis.limits import RedisLimits
from gateway.adapters.redis.opening import beside, open_redis
from gateway.adapters.system.clock import SystemClock
from gateway.settings import Settings


async def test_breakers_and_limits_stand_beside_a_store_on_redis() -> None:
    """They ask the same servers, through the store's own client."""
    clock = SystemClock()
    store = open_redis(Settings(store="redis://127.0.0.1:9"), None, clock)
    found = beside(store, clock)
    await store.close()
    assert found is not None
    breakers, limits = found
    assert (type(breakers), type(limits)) == (RedisBreakers, RedisLimits)
    assert breakers._client is limits._client is store.client


def test_nothing_stands_beside_another_store() -> None:
    """None says that it is on no Redis."""
    clock = SystemClock()
    assert beside(MemoryOperationStore(clock), clock) is None


def test_an_address_that_is_none_is_refused() -> None:
    """The sentence says what is wrong with it."""
    with pytest.raises(ValueError, match="redis"):
        open_redis(Settings(store="redis://"), None, SystemClock())
