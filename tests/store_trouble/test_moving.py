"""A gateway is led to another master while calls are under way: what was looked at on the old one is not sent on the new one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from gateway.adapters.redis import client
from gateway.contract.codes import CallOutcome, ErrorCode
from tests import redis_servers
from tests.gateway.pipeline.provider import late
from tests.gateway.pipeline.rig import ONE_SLOT, Rig, plain, queued
from tests.redis_sentinels import ScriptedSentinel
from tests.redis_servers import Server
from tests.store_trouble.conftest import MakeRig
from tests.store_trouble.stores import opener, served
from tests.waiting import PATIENCE_S


async def test_what_was_looked_at_on_the_old_master_is_not_sent_on_the_new_one(rig: MakeRig, kind: str) -> None:
    """It waited for a slot meanwhile, and another gateway may have sent it on the old master: it is refused, and may be asked
    for again.
    """
    with two(kind) as (old, new):
        async with ScriptedSentinel(names=old.port) as sentinel:
            gateway = await rig(plain(ONE_SLOT), store=opener(f"redis+sentinel://127.0.0.1:{sentinel.port}/m"))
            assert (await served(gateway, "W")).ok
            # Connections that wait: a call that need not make one claims its record only when it sends.
            await asyncio.gather(*(served(gateway, tool="get_status") for _ in range(3)))
            free = asyncio.Event()
            gateway.provider.writes += [late(free)]
            first = gateway.soon("Z")
            await gateway.provider.until_sent(2)
            second = gateway.soon("X")
            await queued(gateway)
            new.client.execute_command("REPLICAOF", "NO", "ONE")
            sentinel.names, sentinel.epoch = new.port, 1
            await noticed(gateway)
            free.set()
            await first
            told = (await second).error

        assert told is not None
        assert (told.code, told.outcome) == (ErrorCode.STORE_UNAVAILABLE, CallOutcome.NOT_EXECUTED)
        assert told.retry_after_s is not None
        assert len(gateway.provider.sent) == 2
        await gateway.store.close()


BEHIND: Final = """
local function now()
  local t = redis.call('TIME')
  return (tonumber(t[1]) - tonumber(redis.call('GET', 'behind_s') or '0')) .. '.' .. string.format('%06d', t[2])
end
"""
"""The head of scripts on servers whose clocks may be behind."""


async def test_doubt_is_measured_on_the_clock_of_the_server_that_it_is_about(
    rig: MakeRig, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promoted server's clock is behind the old one's by more than the doubt lasts, and the gateway's own does not go back."""
    monkeypatch.setattr(client, "clock_text", lambda: BEHIND)
    with two(kind) as (old, new):
        async with ScriptedSentinel(names=old.port) as sentinel:
            gateway = await rig(plain(), store=opener(f"redis+sentinel://127.0.0.1:{sentinel.port}/m"))
            assert (await served(gateway, "W")).ok
            new.client.execute_command("REPLICAOF", "NO", "ONE")
            new.client.set("behind_s", "1000")
            sentinel.names, sentinel.epoch = new.port, 1
            await noticed(gateway)
            told = (await gateway.call("X")).error

        assert told is not None
        assert told.code is ErrorCode.STORE_UNAVAILABLE
        assert told.retry_after_s is not None
        # total, grace and lease.
        assert 35 < told.retry_after_s <= 50
        assert len(gateway.provider.sent) == 1
        await gateway.store.close()


@contextmanager
def two(kind: str) -> Iterator[tuple[Server, Server]]:
    """A master, and its replica that has what it has."""
    with (
        redis_servers.own(kind, "--repl-diskless-sync-delay", "0") as old,
        redis_servers.own(kind, "--replicaof", "127.0.0.1", str(old.port)) as new,
    ):
        redis_servers.wait_until(lambda: bool(old.client.set("x", "x")) and old.client.wait(1, 100) == 1)
        yield old, new


async def noticed(gateway: Rig) -> None:
    """Ask the store for anything until it says that its memory is another."""
    async with asyncio.timeout(PATIENCE_S):
        while gateway.store.changed_at is None:
            await gateway.store.tools_kept()
            await asyncio.sleep(0.05)
