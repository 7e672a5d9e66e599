"""Rates and budgets on a server: how they are kept there, and what becomes of them without it."""

import pytest

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.limits import RedisLimits, rate_key, spent_key
from gateway.adapters.redis.memory import Memory
from gateway.at_rest.sealing import Sealer
from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.rate import Quota
from gateway.stages.execute.breaker.spending import KEPT_S, Purse
from tests.clocks import ManualClock
from tests.gateway.adapters.redis.asking import client_of
from tests.redis_servers import Server, free_port

MINE = Quota(name="n", partition="acme", key="a", rate=Rate(count=3, per_s=60.0))
ALL = Quota(name=None, partition="", key="b", rate=Rate(count=5, per_s=60.0))
RUN = Purse(tenant="acme", run_id="run:1}", unit="refund")


def limits(client: Client) -> tuple[RedisLimits, ManualClock]:
    """A gateway's."""
    Memory(client, Sealer())
    clock = ManualClock()
    return RedisLimits(client, clock), clock


async def test_what_is_kept_goes_by_itself(server: Server, client: Client) -> None:
    """A bucket lives for as long as it takes to fill, and a second; a purse for a month."""
    one, _ = limits(client)
    await one.take([MINE])
    await one.reserve(RUN, "a", 1, 5)

    assert 59_000 < server.client.pttl(f"{rate_key('acme')}:a") <= 61_000
    assert KEPT_S - 60 < server.client.ttl(f"{spent_key('acme')}:run%3A1%7D:refund") <= KEPT_S


async def test_with_the_store_away_each_counts_for_itself() -> None:
    """A limit is no reason to refuse, and none to wait: after one vain question nobody asks for a while."""
    client = client_of(f"redis://127.0.0.1:{free_port()}")
    one, clock = limits(client)
    taken = [await one.take([MINE, ALL]) for _ in range(4)]
    spent = [await one.reserve(RUN, call, 2, 5) for call in "abc"]
    await one.release(RUN, "a")

    assert [it.refused for it in taken] == [None, None, None, 0]
    assert taken[3].wait_s == pytest.approx(20.0)
    assert spent == [None, None, 4.0]
    assert await one.reserve(RUN, "c", 2, 5) is None
    await clock.advance(20.0)
    assert (await one.take([MINE, ALL])).refused is None
    client.close()


def test_a_partition_is_one_slot() -> None:
    """Whatever is in the tenant's name; what everybody shares has its own."""
    assert rate_key("a}{b") == "oncegate:{a%7D%7Bb}:rate"
    assert spent_key("a}{b") == "oncegate:{a%7D%7Bb}:spent"
    assert rate_key("") == "oncegate:{:shared}:rate"
