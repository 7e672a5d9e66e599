"""A store on Redis from its address."""

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.redis.breakers import RedisBreakers
from gateway.adapters.redis.limits import RedisLimits
from gateway.adapters.redis.opening import beside, open_redis
from gateway.adapters.system.clock import SystemClock


async def test_breakers_and_limits_stand_beside_a_store_on_redis() -> None:
    """They ask the same servers, through the store's own client."""
    clock = SystemClock()
    store = open_redis("redis://127.0.0.1:9", clock)
    breakers, limits = beside(store, clock)
    await store.close()
    assert (type(breakers), type(limits)) == (RedisBreakers, RedisLimits)
    assert breakers._client is limits._client is store.client


def test_nothing_stands_beside_another_store() -> None:
    """Rather than breakers that nobody shares there are none."""
    clock = SystemClock()
    with pytest.raises(TypeError, match="MemoryOperationStore"):
        beside(MemoryOperationStore(clock), clock)


def test_an_address_that_is_none_is_refused() -> None:
    """The sentence says what is wrong with it."""
    with pytest.raises(ValueError, match="each host of a store address"):
        open_redis("redis://", SystemClock())
