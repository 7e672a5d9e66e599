"""Rates that gateways count together."""

import pytest

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.limits import RedisRateLimits, rate_key
from gateway.adapters.redis.memory import Memory
from gateway.at_rest.sealing import Sealer
from gateway.manifest.policies import Rate
from tests.clocks import ManualClock
from tests.gateway.adapters.redis.asking import client_of
from tests.redis_servers import Server, free_port

RATE = Rate(count=3, per_s=60.0)


def limits(client: Client) -> tuple[RedisRateLimits, ManualClock]:
    """A gateway's."""
    Memory(client, Sealer())
    clock = ManualClock()
    return RedisRateLimits(client, clock), clock


async def test_gateways_share_a_bucket(server: Server, client: Client) -> None:
    """Three calls between two gateways, then each is told when there will be a token; another caller has its own."""
    one, _ = limits(client)
    other, _ = limits(second := client_of(server.url))
    taken = [await gateway.take("a\0b\0c", RATE) for gateway in (one, other, one)]
    refused = [await gateway.take("a\0b\0c", RATE) for gateway in (one, other)]

    assert taken == [None] * 3
    assert all(wait is not None and 15.0 < wait <= 20.0 for wait in refused)
    assert await one.take("a\0b\0d", RATE) is None
    second.close()


async def test_a_bucket_is_forgotten_when_it_is_full(server: Server, client: Client) -> None:
    """It lives for as long as it takes to fill, and a second."""
    one, _ = limits(client)
    await one.take("a", RATE)
    left_ms = server.client.pttl(rate_key("a"))

    assert 59_000 < left_ms <= 61_000


async def test_with_the_store_away_each_counts_for_itself() -> None:
    """A limit is no reason to refuse, and none to wait: after one vain question nobody asks for a while."""
    client = client_of(f"redis://127.0.0.1:{free_port()}")
    one, clock = limits(client)
    taken = [await one.take("a", RATE) for _ in range(4)]

    assert taken[:3] == [None] * 3
    assert taken[3] == pytest.approx(20.0)
    await clock.advance(20.0)
    assert await one.take("a", RATE) is None
    client.close()


def test_a_callers_bucket_has_a_slot_of_its_own() -> None:
    """Whatever is in the caller's name."""
    assert rate_key("a}\0{b") == "oncegate:rate:{a%7D%00%7Bb}"
