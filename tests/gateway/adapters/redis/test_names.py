"""Look-ups of names, by a resolver that may say nothing."""

import asyncio
import socket
import ssl
import threading
from dataclasses import replace
from typing import Any

import pytest
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import RedisError

from gateway.adapters.redis import guides
from gateway.adapters.redis.address import Node
from gateway.adapters.redis.guides import Guides, ask
from gateway.adapters.redis.names import Names
from gateway.adapters.redis.pool import Login
from tests.redis_servers import Server
from tests.waiting import PATIENCE_S, eventually

HOST = "sentinel.example"
LOGIN = Login(timeout_s=PATIENCE_S)


class Resolver:
    """Answers nobody before it `may_answer`; `found` may be an error."""

    def __init__(self) -> None:
        self.asked = 0
        self.threads: set[str] = set()
        self.may_answer = threading.Event()
        self.found: list[str] | None = ["127.0.0.1"]

    def __call__(self, host: str, port: Any) -> list[Any]:
        assert host == HOST
        self.threads.add(threading.current_thread().name)
        self.asked += 1
        self.may_answer.wait(PATIENCE_S)
        if self.found is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port or 0)) for each in self.found]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    """In the place of the system's, for names."""
    made, real = Resolver(), socket.getaddrinfo

    def either(host: str | None, *more: Any) -> list[Any]:
        return made(host, more[0]) if host == HOST else real(host, *more)

    monkeypatch.setattr(socket, "getaddrinfo", either)
    return made


async def nothing() -> None:
    """Look, and learn nothing."""


async def test_a_name_is_looked_up_once_at_a_time(
    server: Server, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds of questions that give up leave one look-up; the next round has what it found, and only the one after looks anew."""
    node = (HOST, server.port)
    asking = Guides((node,), "A sentinel is silent", nothing)

    async def question(node: Node) -> bytes | None:
        told: list[bytes] = await ask(asking.names, node, LOGIN, ("ECHO", "x"))
        return told[0]

    for _ in range(3):
        assert await asking.ask((node,), question) == {}
    await eventually(lambda: resolver.asked == 1)
    resolver.may_answer.set()
    await eventually(asking.names._looking[HOST].done)
    monkeypatch.setattr(guides, "GUIDE_S", PATIENCE_S)
    assert (await asking.ask((node,), question), resolver.asked) == ({node: b"x"}, 1)
    assert (await asking.ask((node,), question), resolver.asked) == ({node: b"x"}, 2)


async def test_a_failure_is_for_who_asks_next(resolver: Resolver, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody who has left hears of it, and neither does the log; no thread that others need was kept."""
    resolver.found = None
    names = Names()
    asking = asyncio.create_task(names.addresses(HOST))
    await eventually(lambda: resolver.asked == 1)
    asking.cancel()
    await asyncio.wait({asking})
    resolver.may_answer.set()
    await eventually(names._looking[HOST].done)
    with pytest.raises(socket.gaierror):
        await names.addresses(HOST)

    assert (names._looking, resolver.asked, caplog.messages) == ({}, 1, [])
    assert resolver.threads == {f"look-up of {HOST}"}


async def test_the_next_address_is_tried_where_one_takes_nobody(server: Server, resolver: Resolver) -> None:
    """As `localhost`, which may be an address that the server does not listen on; the last one's error is told."""
    resolver.may_answer.set()
    resolver.found = ["127.0.0.2", "127.0.0.1"]
    assert await ask(Names(), (HOST, server.port), LOGIN, ("ECHO", "x")) == [b"x"]
    resolver.found = ["127.0.0.2", "127.0.0.3"]
    with pytest.raises(NotConnectedError):
        await ask(Names(), (HOST, server.port), LOGIN, ("ECHO", "x"))


async def test_an_address_is_its_own(resolver: Resolver) -> None:
    """Nobody is asked for it."""
    assert [await Names().addresses(each) for each in ("127.0.0.1", "::1")] == [("127.0.0.1",), ("::1",)]
    assert resolver.asked == 0


async def test_closing_waits_for_none(resolver: Resolver) -> None:
    """Who still waits is told."""
    names = Names()
    asking = asyncio.create_task(names.addresses(HOST))
    await eventually(lambda: resolver.asked == 1)
    names.close()
    with pytest.raises(NotConnectedError, match="closed"):
        await asking
    resolver.may_answer.set()


async def test_a_certificate_is_for_the_name(resolver: Resolver) -> None:
    """With TLS the name is what is asked for, and not the address that it has."""
    resolver.may_answer.set()
    asked_for: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = lambda _, name, __: asked_for.append(name)
    listening = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with listening:
        with pytest.raises((RedisError, OSError)):
            await ask(Names(), (HOST, listening.sockets[0].getsockname()[1]), replace(LOGIN, tls=True), ("PING",))

    assert asked_for == [HOST]
