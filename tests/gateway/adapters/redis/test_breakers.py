"""Breakers that gateways share. What every store of them does is in `tests/conformance/test_breaker_stores.py`."""

from dataclasses import replace

import pytest

from gateway.adapters.redis.breakers import REFRESH_S, RedisBreakers
from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import Memory, shared_key
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.breaker.ports import BreakerStoreAway, Standing
from tests.clocks import ManualClock
from tests.gateway.adapters.redis.asking import client_of
from tests.gateway.at_rest.test_breakers import OPEN as STORED
from tests.redis_servers import Server, free_port
from tests.waiting import eventually, turns

OPEN = replace(STORED, generation=1)


async def breakers(client: Client) -> tuple[RedisBreakers, ManualClock]:
    """A gateway's, under a clock of its own."""
    Memory(client, Sealer())
    clock = ManualClock()
    return RedisBreakers(client, clock), clock


async def asked(server: Server) -> int:
    """How many scripts the server has run."""
    told = server.client.info("commandstats")
    return sum(told.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("evalsha", "eval"))


async def test_a_breaker_comes_back_as_it_went_in(server: Server, client: Client) -> None:
    """Every field of it, to another gateway."""
    one, _ = await breakers(client)
    other, _ = await breakers(second := client_of(server.url))

    assert await one.swap("payments", 0, OPEN) == OPEN
    assert await other.load("payments") == Standing(breaker=OPEN)
    second.close()


async def test_what_was_heard_asks_nobody(server: Server, client: Client) -> None:
    """A healthy scope is read once; then the background keeps it fresh, whoever writes."""
    one, clock = await breakers(client)
    other, _ = await breakers(second := client_of(server.url))
    assert one.peek("payments") is None
    await one.load("payments")
    before = await asked(server)
    for _ in range(100):
        assert one.peek("payments") == Standing()
    assert await asked(server) == before

    await other.swap("payments", 0, OPEN)
    await other.throttle("payments", 9.5)
    await clock.sleepers(1)
    await clock.advance(REFRESH_S)
    await clock.sleepers(1)
    assert one.peek("payments") == Standing(breaker=OPEN, throttled_until=9.5)
    second.close()


async def test_what_was_heard_long_ago_is_not_gone_by(server: Server, client: Client) -> None:
    """When the background hears nothing, the next caller asks itself; then nobody does for a while."""
    one, clock = await breakers(client)
    await one.load("payments")
    await clock.sleepers(1)
    server.client.config_set("maxmemory-policy", "noeviction")
    client.close()
    await clock.advance(2 * REFRESH_S + 0.1)

    assert one.peek("payments") is None


async def test_a_store_that_is_away_is_asked_now_and_then() -> None:
    """Not by every call: each would wait for it in vain."""
    client = client_of(f"redis://127.0.0.1:{free_port()}")
    one, clock = await breakers(client)
    with pytest.raises(BreakerStoreAway) as first:
        await one.load("payments")
    with pytest.raises(BreakerStoreAway) as second:
        await one.swap("payments", 0, OPEN)
    await clock.advance(1.0)
    with pytest.raises(BreakerStoreAway) as third:
        await one.throttle("payments", 1.0)

    assert [error.value.__cause__ is None for error in (first, second, third)] == [False, True, False]
    client.close()


async def test_anothers_breaker_is_not_believed(server: Server, client: Client) -> None:
    """Each carries the name of its dependency."""
    one, _ = await breakers(client)
    await one.swap("payments", 0, OPEN)
    text = server.client.hget(shared_key("breakers"), "b:payments")
    server.client.hset(shared_key("breakers"), "b:orders", text)

    with pytest.raises(BreakerStoreAway):
        await one.load("orders")


async def test_what_nobody_understands_does_not_end_the_background(
    server: Server, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told once, and what is written afterwards is heard."""
    one, clock = await breakers(client)
    await one.load("payments")

    async def refreshed() -> None:
        await eventually(lambda: clock.sleeping == 1)
        await clock.advance(REFRESH_S)
        await eventually(lambda: clock.sleeping == 1)

    server.client.hset(shared_key("breakers"), "t:payments", "soon")
    await refreshed()
    await refreshed()
    assert len([it for it in caplog.messages if "is not understood" in it]) == 1
    server.client.hset(shared_key("breakers"), "t:payments", "9.5")
    await refreshed()

    assert one.peek("payments") == Standing(throttled_until=9.5)


async def test_the_background_ends_with_the_client(client: Client) -> None:
    """Nothing asks any more once it is closed."""
    one, clock = await breakers(client)
    await one.load("payments")
    await clock.sleepers(1)
    client.close()
    await turns()

    assert clock.sleeping == 0
