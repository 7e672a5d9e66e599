"""Pinned manifests. That a store puts them back is in `test_store.py`."""

import asyncio
from dataclasses import replace

from gateway.adapters.redis.memory import Memory
from gateway.adapters.redis.pins import Pins
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import PinnedManifest, StoreUnavailableError
from tests.gateway.adapters.redis.asking import client_of
from tests.redis_servers import Server
from tests.waiting import turns

PIN = PinnedManifest(digest="d", tool="t", operation="o", revision=1, canonical='{"ü": 1}'.encode())


async def test_the_first_pin_of_a_digest_stays(server: Server) -> None:
    """Whoever pins it again; all gateways see all, the earliest first."""
    client = client_of(server.url)
    memory = Memory(client, Sealer())
    one, other = Pins(client, memory), Pins(client, memory)
    later = replace(PIN, digest="a")
    await one.keep((PIN,), wall=1.0)
    await other.keep((later, replace(PIN, tool="another")), wall=2.0)

    assert await one.keep((), wall=3.0) == (PIN, later)
    client.close()


async def test_nothing_is_asked_while_the_memory_is_the_same(server: Server) -> None:
    """A record costs no look at the pins."""
    client = client_of(server.url)
    pins = Pins(client, Memory(client, Sealer()))
    assert not pins.are_lost()
    await pins.keep((PIN,), wall=1.0)
    server.client.delete("oncegate:{:shared}:manifests")

    assert not pins.are_lost()
    assert server.client.exists("oncegate:{:shared}:manifests") == 0
    client.close()


async def test_counts_that_come_together_share_a_question(server: Server) -> None:
    """One is under way, and one more answers all who came meanwhile; each is told what was there after it asked."""
    client = client_of(server.url)
    pins = Pins(client, Memory(client, Sealer()))
    await pins.keep((PIN,), wall=1.0)
    first = asyncio.create_task(pins.count())
    await turns()
    server.client.config_resetstat()
    server.client.hset("oncegate:{:shared}:manifests", "more", "{}")
    later = [asyncio.create_task(pins.count()) for _ in range(20)]
    await turns()
    later.pop().cancel()

    assert await asyncio.gather(*later) == [2] * 19
    assert await first in (1, 2)
    assert server.client.info("commandstats")["cmdstat_evalsha"]["calls"] <= 2
    assert await pins.count() == 2
    client.close()


async def test_a_question_that_fails_is_everybodys_who_shares_it(server: Server) -> None:
    """Nobody waits for ever, and the next one asks anew."""
    client = client_of(server.url)
    pins = Pins(client, Memory(client, Sealer()))
    await pins.keep((PIN,), wall=1.0)
    server.client.set("oncegate:{:shared}:other", "x")
    server.client.rename("oncegate:{:shared}:other", "oncegate:{:shared}:manifests")
    told = await asyncio.gather(*(pins.count() for _ in range(5)), return_exceptions=True)

    assert {type(it) for it in told} == {StoreUnavailableError}
    server.client.delete("oncegate:{:shared}:manifests")
    assert await pins.count() == 0
    client.close()


async def test_a_question_that_is_given_up_leaves_nobody_waiting(server: Server) -> None:
    """Before it is asked or while it is; whoever comes afterwards is answered."""
    client = client_of(server.url)
    pins = Pins(client, Memory(client, Sealer()))
    await pins.keep((PIN,), wall=1.0)
    first = asyncio.create_task(pins.count())
    await turns()
    before = asyncio.all_tasks()
    later = [asyncio.create_task(pins.count()) for _ in range(3)]
    await turns()
    (question,) = asyncio.all_tasks() - before - set(later)

    question.cancel()
    await turns()
    again = asyncio.create_task(pins.count())

    told = await asyncio.gather(*later, return_exceptions=True)
    assert [type(it) for it in told] == [StoreUnavailableError] * 3
    assert await asyncio.wait_for(again, 5) == 1
    assert await first == 1
    client.close()
