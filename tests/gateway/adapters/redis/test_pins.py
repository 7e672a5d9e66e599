"""Pinned manifests. That a store puts them back is in `test_store.py`."""

from dataclasses import replace

from gateway.adapters.redis.memory import Memory
from gateway.adapters.redis.pins import Pins
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import PinnedManifest
from tests.gateway.adapters.redis.asking import client_of
from tests.redis_servers import Server

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
    await pins.put_back(wall=1.0)
    assert server.client.dbsize() == 0
    await pins.keep((PIN,), wall=1.0)
    server.client.delete("oncegate:{:shared}:manifests")
    await pins.put_back(wall=1.0)

    assert server.client.exists("oncegate:{:shared}:manifests") == 0
    client.close()
