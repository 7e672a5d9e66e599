"""Which server a key is on. What sentinels say is in `test_sentinels`, nodes in `test_cluster`; fleets in `tests/store_trouble`."""

import pytest
from redis.exceptions import ConnectionError as NotConnectedError

from gateway.adapters.redis.address import parse_address
from gateway.adapters.redis.cluster import Cluster
from gateway.adapters.redis.pool import Login
from gateway.adapters.redis.routes import OneServer, route_to
from gateway.adapters.redis.sentinels import Sentinels
from tests import redis_servers
from tests.redis_servers import Server

LOGIN = Login(timeout_s=5.0)


@pytest.mark.parametrize(
    ("url", "kind"),
    [("redis://a", OneServer), ("redis+sentinel://a/m", Sentinels), ("redis+cluster://a", Cluster)],
)
def test_an_address_calls_for_a_route(url: str, kind: type) -> None:
    """One server, sentinels or a cluster."""
    assert isinstance(route_to(parse_address(url), LOGIN), kind)


async def test_one_server_has_every_key(server: Server) -> None:
    """And is its only master, whatever was forgotten."""
    route = OneServer(("127.0.0.1", server.port), LOGIN)
    pool = await route.pool_of("a")
    route.forget()

    assert await route.pool_of("b") is pool
    assert await route.masters() == (pool,)
    route.close()


@pytest.mark.parametrize(
    "url", ["redis+sentinel://127.0.0.1:{},127.0.0.1:{}/m", "redis+cluster://127.0.0.1:{},127.0.0.1:{}"]
)
async def test_nobody_to_ask_is_no_server(url: str) -> None:
    """Every sentinel, or node, is asked, and none answers."""
    ports = (redis_servers.free_port(), redis_servers.free_port())
    route = route_to(parse_address(url.format(*ports)), LOGIN)
    with pytest.raises(NotConnectedError, match="no "):
        await route.pool_of("a")
    route.close()
