"""Connections to one server."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as NotConnectedError

from gateway.adapters.redis.pool import Login, Pool, drop, memory_of
from tests import redis_servers
from tests.redis_servers import Server
from tests.waiting import eventually, turns


def pool_of(server: Server, size: int = 2) -> Pool:
    """A small pool."""
    return Pool(("127.0.0.1", server.port), Login(timeout_s=5.0), size=size)


async def answered(connection: AbstractConnection) -> None:
    """Wait until something has come back that nobody reads."""
    await eventually(connection.can_read)


async def test_a_connection_is_used_again(server: Server) -> None:
    """What was given back is given out, and knows which memory is behind it."""
    pool = pool_of(server)
    first = await pool.take()
    memory = memory_of(first)
    pool.give(first)
    again = await pool.take()

    assert again is first
    assert memory == server.client.info("replication")["master_replid"]
    pool.give(again)
    pool.close()


async def test_no_more_than_there_are_places(server: Server) -> None:
    """A third caller waits until one of two comes back, and one that leaves meanwhile takes nothing with it."""
    pool = pool_of(server)
    held = [await pool.take(), await pool.take()]
    waiting, leaving = asyncio.create_task(pool.take()), asyncio.create_task(pool.take())
    await turns()
    leaving.cancel()
    await asyncio.wait({leaving})
    assert (pool.taken, waiting.done()) == (2, False)

    pool.give(held[0])
    assert await waiting is held[0]
    for connection in held:
        pool.give(connection)
    assert pool.taken == 0
    pool.close()


async def test_five_hundred_that_leave_lose_no_place(server: Server) -> None:
    """Cancelled at any moment of connecting, asking or waiting: every place comes back."""
    pool = pool_of(server, size=4)

    async def ask() -> None:
        connection = await pool.take()
        try:
            await connection.send_command("PING", check_health=False)
            await connection.read_response()
        except BaseException:
            drop(connection)
            raise
        finally:
            pool.give(connection)

    for n in range(500):
        task = asyncio.create_task(ask())
        await turns(n % 13)
        task.cancel()
        await asyncio.wait({task})

    assert pool.taken == 0
    for _ in range(8):
        await ask()
    pool.close()


async def test_a_connection_that_was_closed_is_made_anew(server: Server) -> None:
    """The server has hung up on an idle one, or left a reply in it: it is not used as it is."""
    pool = pool_of(server)
    connection = await pool.take()
    pool.give(connection)
    server.client.client_kill_filter(_type="normal", skipme=True)
    again = await pool.take()
    await again.send_command("PING", check_health=False)
    pool.give(again)
    await answered(again)
    third = await pool.take()
    await third.send_command("ECHO", "mine", check_health=False)

    assert await third.read_response() == b"mine"
    pool.give(third)
    pool.close()


async def test_a_replica_is_no_server_of_ours(server: Server) -> None:
    """What it says may be old, and what is written to it is lost."""
    with redis_servers.own("valkey", "--replicaof", "127.0.0.1", str(server.port)) as replica:
        pool = pool_of(replica)
        with pytest.raises(NotConnectedError, match="no master"):
            await pool.take()
        assert pool.taken == 0
        pool.close()


async def test_a_closed_pool_keeps_nothing(server: Server) -> None:
    """What comes back after it is closed, too."""
    pool = pool_of(server)
    held, idle = await pool.take(), await pool.take()
    pool.give(idle)
    pool.close()
    pool.give(held)

    assert not held.is_connected
    assert not idle.is_connected


def test_a_password_is_not_shown() -> None:
    """Not in the repr, which ends up in logs."""
    assert "hush" not in repr(Login(username="me", password="hush"))


async def test_user_password_and_database_are_used() -> None:
    """A server that wants a password gets it, and the database is the chosen one."""
    with redis_servers.own("valkey") as server:
        server.client.set("x", "0")
        server.client.acl_setuser("me", enabled=True, passwords=["+hush"], commands=["+@all"], keys=["*"])
        login = Login(username="me", password="hush", database=3, timeout_s=5.0)
        pool = Pool(("127.0.0.1", server.port), login)
        connection = await pool.take()
        await connection.send_command("GET", "x", check_health=False)
        assert await connection.read_response() is None
        await connection.send_command("ACL", "WHOAMI", check_health=False)
        assert await connection.read_response() == b"me"
        pool.give(connection)
        pool.close()


async def test_the_line_is_opened_once_for_all(server: Server) -> None:
    """Whoever asks meanwhile gets the same one; one that has ended is opened anew, and nobody's leaving hinders it."""
    pool = pool_of(server)
    leaving = asyncio.create_task(pool.line())
    await turns()
    leaving.cancel()
    first, same = await asyncio.gather(pool.line(), pool.line())
    first.close()
    another = await pool.line()

    assert first is same is not another
    assert another.memory == server.client.info("replication")["master_replid"]
    assert pool.shared is another
    pool.close()
    assert not another.is_open


async def test_a_line_that_cannot_be_opened_is_everybodys_trouble() -> None:
    """Nobody listens; the next caller tries again."""
    pool = Pool(("127.0.0.1", redis_servers.free_port()), Login(timeout_s=5.0))
    for _ in range(2):
        told = await asyncio.gather(pool.line(), pool.line(), return_exceptions=True)
        assert [type(it) for it in told] == [NotConnectedError] * 2
    pool.close()


async def test_a_pool_that_is_closed_while_its_line_is_opened_cancels_nobody() -> None:
    """Whoever asked is told that the connection is lost, and can ask elsewhere; as after a failover from a master that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        pool = Pool(("127.0.0.1", silent.getsockname()[1]), Login(timeout_s=5.0))
        asking = [asyncio.create_task(pool.line()) for _ in range(3)]
        await turns()

        pool.close()

        told = await asyncio.gather(*asking, return_exceptions=True)
    assert [type(it) for it in told] == [NotConnectedError] * 3


async def test_a_pool_that_is_closed_opens_nothing(server: Server) -> None:
    """Whoever has got hold of it before, or waits for a place in it, is told, and can ask elsewhere."""
    pool = pool_of(server, size=1)
    held = await pool.take()
    waiting = asyncio.create_task(pool.take())
    await turns()
    pool.close()
    pool.give(held)
    asked: list[Callable[[], Awaitable[object]]] = [pool.line, pool.take, lambda: waiting]
    for each in asked:
        with pytest.raises(NotConnectedError, match="the pool was closed"):
            await each()

    assert pool.taken == 0
    assert not held.is_connected


async def test_whoever_leaves_while_the_line_is_opened_leaves_it_to_the_others(server: Server) -> None:
    """It is one task for all."""
    pool = pool_of(server)
    leaving, staying = asyncio.create_task(pool.line()), asyncio.create_task(pool.line())
    await turns()
    leaving.cancel()

    assert (await staying).is_open
    assert leaving.cancelled()
    pool.close()
