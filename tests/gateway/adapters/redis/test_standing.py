"""How a memory stands comes with questions that are asked in any case: what others found out, and whether the master still is one."""

import asyncio

import pytest

from gateway.adapters.redis.breakers import RedisBreakers
from gateway.adapters.redis.memory import SCHEMA, shared_key
from gateway.adapters.system.clock import SystemClock
from gateway.stages.execute.operation.ports import StoreUnavailableError
from tests import redis_servers
from tests.gateway.adapters.redis.test_memory import count, memory
from tests.redis_servers import Server


@pytest.mark.parametrize("question", ["tenants", "breakers"])
async def test_what_one_gateway_finds_out_the_others_hear(
    server: Server, question: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With what they ask in any case, on connections that never broke; the log has it once, and doubt begins when all know."""
    (one, first), (other, second) = memory(server), memory(server)
    await count(one)
    await count(other)
    breakers = RedisBreakers(second, SystemClock())
    before = other.epoch
    values = ("new", one.epoch.partition(".")[2], one.epoch.partition(".")[0], 0, SCHEMA, "elsewhere")
    _, _, since, _ = await first.ask("identify", shared_key("memory"), values)
    for _ in range(2):
        await (other.names() if question == "tenants" else breakers.load("payments"))

    assert (one.changed_at, other.changed_at, other.epoch) == (None, float(since) + 2.0, before)
    assert len([it for it in caplog.messages if "another than this process knew" in it]) == 1
    for client in (first, second):
        client.close()


async def test_a_server_that_is_another_under_an_open_connection_is_found_out() -> None:
    """As when it is made a replica and a master again by hand: by the next question of those that are asked in any case."""
    with (
        redis_servers.own("valkey", "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0") as server,
        redis_servers.own("valkey", "--replicaof", "127.0.0.1", str(server.port)) as replica,
    ):
        redis_servers.wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up")
        one, client = memory(server)
        await one.ask("acme", "count", (), wall=1.0, replicas=1)
        before = one.epoch
        server.client.execute_command("DEBUG", "CHANGE-REPL-ID")
        await one.names()
        await one.ask("acme", "count", (), wall=1.0, replicas=1)

        assert one.epoch != before
        assert one.changed_at is not None
        client.close()


async def test_a_master_that_gets_its_first_replica_is_met_anew() -> None:
    """Its id changes under the open line; writes that replicas must have see it on theirs, also where nothing else is asked."""
    with redis_servers.own("valkey", "--repl-diskless-sync-delay", "0") as server:
        one, client = memory(server)
        await count(one)
        before = one.epoch
        with redis_servers.own("valkey", "--replicaof", "127.0.0.1", str(server.port)) as replica:
            redis_servers.wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up")
            redis_servers.wait_until(lambda: bool(server.client.wait(1, 100)))
            await asyncio.gather(*[one.ask("acme", "count", (), wall=1.0, replicas=1) for _ in range(8)])

        assert one.epoch != before
        client.close()


@pytest.mark.parametrize("kind", redis_servers.KINDS)
async def test_a_master_that_has_become_a_replica_is_not_asked(kind: str) -> None:
    """Its open connections go on answering; what it says there may be old."""
    redis_servers.need(kind)
    with (
        redis_servers.own(kind, "--repl-diskless-sync-delay", "0") as server,
        redis_servers.own(kind, "--repl-diskless-sync-delay", "0") as new,
    ):
        one, client = memory(server)
        await count(one)
        server.client.execute_command("REPLICAOF", "127.0.0.1", new.port)
        await RedisBreakers(client, SystemClock()).load("payments")
        with pytest.raises(StoreUnavailableError, match="no master"):
            await count(one)
        client.close()
