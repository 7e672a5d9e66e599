"""Which server a key is on. The fleets themselves are in `tests/store_trouble`."""

import asyncio
from typing import Self

import pytest
from redis.exceptions import ConnectionError as NotConnectedError

from gateway.adapters.redis import routes
from gateway.adapters.redis.address import parse_address
from gateway.adapters.redis.pool import Login
from gateway.adapters.redis.routes import Cluster, OneServer, Sentinels, ask, route_to
from tests import redis_servers
from tests.redis_servers import Server
from tests.waiting import eventually

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


class Sentinel:
    """Names a port of loopback as the master, to whoever asks."""

    def __init__(self) -> None:
        self.names = 0
        self.asked = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while words := await reader.readline():
            parts = [(await reader.readline(), await reader.readline())[1].strip() for _ in range(int(words[1:]))]
            if parts[0].upper() == b"SENTINEL":
                self.asked += 1
                port = str(self.names).encode()
                writer.write(b"*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%s\r\n" % (len(port), port))
            else:
                writer.write(b"+OK\r\n")
            await writer.drain()
        writer.close()


async def test_a_master_that_is_well_and_no_longer_named_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failover that somebody ordered leaves it taking what will be lost: the sentinels are asked again, in time."""
    monkeypatch.setattr(routes, "_LOOKS_AGAIN_S", 0.0)
    async with Sentinel() as sentinel:
        sentinel.names = 7001
        route = Sentinels((("127.0.0.1", sentinel.port),), "m", LOGIN)
        old = await route.pool_of("a")
        sentinel.names = 7002

        await eventually(lambda: route.near("a") is not old)
        new = await route.pool_of("a")
        route.close()
        await eventually(lambda: route._following is None)

    assert (old.node[1], old._closed) == (7001, True)
    assert (new.node[1], new._closed) == (7002, True)


async def test_a_sentinels_word_holds_for_a_second_and_while_none_answers() -> None:
    """No command waits for one; where all are away the master that answers is used on."""
    async with Sentinel() as sentinel:
        sentinel.names = 7001
        route = Sentinels((("127.0.0.1", sentinel.port),), "m", LOGIN)
        pool = await route.pool_of("a")
        assert [route.near("a"), await route.pool_of("a")] == [pool, pool]
        assert sentinel.asked == 1
    route._asked_at -= 1.0
    assert route.near("a") is pool
    await eventually(lambda: route._following is None)

    assert route.near("a") is pool
    route.close()


async def test_one_question_on_its_own_connection(server: Server) -> None:
    """Nothing of it stays open."""
    before = server.client.info("clients")["connected_clients"]
    assert await ask(("127.0.0.1", server.port), LOGIN, "ECHO", "x") == b"x"
    await asyncio.to_thread(
        redis_servers.wait_until, lambda: server.client.info("clients")["connected_clients"] == before
    )
