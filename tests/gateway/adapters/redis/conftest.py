"""A server, and gateways' views of it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from gateway.adapters.redis.client import Client
from gateway.adapters.system.clock import SystemClock
from tests import redis_servers
from tests.gateway.adapters.redis.asking import client_of
from tests.redis_servers import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """The server of this process, empty."""
    shared = redis_servers.shared("valkey")
    shared.client.flushall()
    yield shared
    # Some tests put it at odds with the store.
    shared.client.config_set("maxmemory-policy", "noeviction")


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """A client that takes its time: what is tested here is no haste."""
    made = client_of(server.url)
    yield made
    made.close()


@pytest.fixture
def clock() -> SystemClock:
    """Real time."""
    return SystemClock()
