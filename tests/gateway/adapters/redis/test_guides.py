"""Those who know the way."""

import asyncio
import logging

import pytest

from gateway.adapters.redis.address import Node
from gateway.adapters.redis.guides import Guides, ask
from gateway.adapters.redis.names import Names
from gateway.adapters.redis.pool import Login
from tests import redis_servers
from tests.redis_servers import Server
from tests.waiting import PATIENCE_S

ONE, OTHER = ("127.0.0.1", 7001), ("127.0.0.1", 7002)


async def nothing() -> None:
    """Look, and learn nothing."""


async def test_who_says_nothing_is_told_of_once_and_in_readiness(caplog: pytest.LogCaptureFixture) -> None:
    """Once it has done so three times in a row; and when it answers again."""
    caplog.set_level(logging.INFO)
    guides = Guides((ONE, OTHER), "A sentinel is silent", nothing)
    silent = {OTHER}

    async def question(node: Node) -> str | None:
        return None if node in silent else "word"

    for _ in range(2):
        assert await guides.ask((ONE, OTHER), question) == {ONE: "word"}
    assert [*guides.caveats, *caplog.messages] == []
    for _ in range(2):
        await guides.ask((ONE, OTHER), question)
    told = "A sentinel is silent: 127.0.0.1:7002"
    assert [*guides.caveats, *caplog.messages] == [f"{told}.", told]
    silent.clear()
    await guides.ask((ONE, OTHER), question)
    await guides.ask((ONE, OTHER), question)

    assert [*guides.caveats, *caplog.messages] == [told, "it answers again: 127.0.0.1:7002"]


async def test_who_misses_a_question_now_and_then_is_not_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """As on a machine that is busy."""
    guides = Guides((ONE,), "A sentinel is silent", nothing)
    answers = iter([None, None, "word"] * 3)

    async def question(_: Node) -> str | None:
        return next(answers)

    for _ in range(9):
        await guides.ask((ONE,), question)
    assert (guides.caveats, caplog.messages) == ((), [])


async def test_questions_on_a_connection_of_their_own(server: Server) -> None:
    """Nothing of it stays open."""
    login = Login(timeout_s=PATIENCE_S)
    before = server.client.info("clients")["connected_clients"]
    assert await ask(Names(), ("127.0.0.1", server.port), login, ("ECHO", "x"), ("ECHO", "y")) == [b"x", b"y"]
    await asyncio.to_thread(
        redis_servers.wait_until, lambda: server.client.info("clients")["connected_clients"] == before
    )
