"""Which memory it is, and what a process does when it is another."""

import asyncio

import pytest

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import Memory, Tenant, shared_key, tenant_key
from gateway.adapters.redis.pool import Login, Pool
from gateway.adapters.redis.routes import OneServer
from gateway.adapters.system.clock import SystemClock
from gateway.at_rest.sealing import Sealer, SealError
from gateway.stages.execute.operation.ports import StoreUnavailableError
from tests import redis_servers
from tests.conformance.stores import SEAL_KEY
from tests.gateway.adapters.redis.asking import PATIENCE_S, client_of
from tests.redis_servers import Server

OTHER_KEY = "k2:" + "QkJC" * 10 + "QkI="


def memory(server: Server, sealer: Sealer | None = None) -> tuple[Memory, Client]:
    """One gateway's."""
    client = client_of(server.url)
    return Memory(client, sealer or Sealer()), client


async def count(asked: Memory, tenant: str = "acme") -> None:
    """Ask anything."""
    await asked.ask(tenant, "count", (), wall=1.0)


def known(tenant: Tenant) -> tuple[str, str, str, bytes]:
    """All that a process knows of it."""
    return tenant.name, tenant.key, tenant.memory, tenant.digests.secret


@pytest.mark.parametrize(
    ("tenant", "key"),
    [
        ("acme", "oncegate:{acme}:memory"),
        ("a{b}:c", "oncegate:{a%7Bb%7D%3Ac}:memory"),
        ("ü", "oncegate:{%C3%BC}:memory"),
    ],
)
def test_a_tenants_keys_share_a_slot(tenant: str, key: str) -> None:
    """Whatever its name: the hash tag is the whole of it, and can be no other's."""
    assert tenant_key(tenant) == key
    assert "{:shared}" in shared_key("x")


async def test_two_gateways_know_the_same_memory(server: Server) -> None:
    """The first makes it, with its secret for each tenant; nothing has changed for either."""
    (one, first), (other, second) = memory(server), memory(server)
    await asyncio.gather(count(one), count(other))

    assert one.epoch == other.epoch != ""
    assert known(await one.tenant("acme")) == known(await other.tenant("acme"))
    assert (await one.tenant("acme")).digests.secret != (await one.tenant("else")).digests.secret
    assert (one.changed_at, other.changed_at) == (None, None)
    assert await one.names() == ("acme", "else")
    turns = [await one.names_in_turn() for _ in range(3)]
    assert turns == [("else", "acme"), ("acme", "else"), ("else", "acme")]
    assert await other.names_in_turn() == ("else", "acme")
    first.close()
    second.close()


async def test_an_emptied_memory_is_noticed_by_the_first_question(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is done on it; from then on it has another name, everybody learns when that began, and the log has it once."""
    (one, first), (other, second) = memory(server), memory(server)
    await count(one)
    await count(other)
    before = one.epoch
    server.client.flushall()

    with pytest.raises(StoreUnavailableError, match="lost its memory"):
        await count(one)
    assert server.client.dbsize() == 0
    await count(one)
    with pytest.raises(StoreUnavailableError, match="lost its memory"):
        await count(other)
    await count(other)
    fresh, third = memory(server)
    await count(fresh)

    assert before != one.epoch == other.epoch == fresh.epoch
    assert one.changed_at is not None
    assert one.changed_at == other.changed_at == fresh.changed_at
    assert len([it for it in caplog.messages if "another than this process knew" in it]) == 2
    for client in (first, second, third):
        client.close()


async def test_whoever_comes_first_after_a_loss_may_know_nothing(server: Server) -> None:
    """A fresh gateway makes the new memory in good faith; one that knew the old one tells everybody."""
    one, first = memory(server)
    await count(one)
    server.client.flushall()
    fresh, second = memory(server)
    await count(fresh)
    assert fresh.changed_at is None

    with pytest.raises(StoreUnavailableError):
        await count(one)
    await count(one)
    later, third = memory(server)
    await count(later)

    assert one.epoch == later.epoch
    assert one.changed_at == later.changed_at is not None
    for client in (first, second, third):
        client.close()


async def test_a_tenant_alone_may_be_lost(server: Server) -> None:
    """As when one master of a cluster comes back empty: the whole memory gets another name."""
    one, client = memory(server)
    await count(one)
    before = one.epoch
    server.client.delete(tenant_key("acme"))

    with pytest.raises(StoreUnavailableError):
        await count(one)
    await count(one)

    assert one.epoch != before
    assert one.changed_at is not None
    client.close()


async def test_another_replication_id_is_another_epoch() -> None:
    """The same id on a server that took over, or came back from disk: what was acknowledged last may be missing."""
    with redis_servers.own("valkey", "--enable-debug-command", "yes") as server:
        one, client = memory(server)
        await count(one)
        before, identity = one.epoch, server.client.hget(shared_key("memory"), "id")
        server.client.execute_command("DEBUG", "CHANGE-REPL-ID")
        server.client.client_kill_filter(_type="normal", skipme=True)
        await count(one)

        assert one.epoch != before
        assert server.client.hget(shared_key("memory"), "id") == identity
        assert one.changed_at is not None
        client.close()


class Switched:
    """Leads to one of several servers."""

    def __init__(self, *ports: int) -> None:
        self.servers = [OneServer(("127.0.0.1", port), Login(timeout_s=PATIENCE_S)) for port in ports]
        self.at = 0

    def near(self, key: str) -> Pool | None:
        return self.servers[self.at].near(key)

    @property
    def caveats(self) -> tuple[str, ...]:
        return ()

    async def pool_of(self, key: str) -> Pool:
        return await self.servers[self.at].pool_of(key)

    async def masters(self) -> tuple[Pool, ...]:
        return await self.servers[self.at].masters()

    def forget(self) -> None:
        """It is told where to lead."""

    def close(self) -> None:
        for server in self.servers:
            server.close()


async def test_who_is_led_back_to_an_old_master_notices() -> None:
    """It says of itself what it always said, and lacks what was written since; so does the new one when one comes back to it,
    and when one comes late to it, who was still on the old one when others had long noticed the failover.
    """
    with (
        redis_servers.own("valkey", "--repl-diskless-sync-delay", "0") as old,
        redis_servers.own("valkey", "--replicaof", "127.0.0.1", str(old.port)) as new,
    ):
        leads = [Switched(old.port, new.port) for _ in range(3)]
        clients = [Client(lead, SystemClock(), timeout_s=PATIENCE_S) for lead in leads]
        one, late, last = (Memory(client, Sealer()) for client in clients)
        await asyncio.gather(count(one), count(late), count(last))
        await asyncio.to_thread(
            redis_servers.wait_until, lambda: bool(old.client.set("x", "x")) and old.client.wait(1, 100) == 1
        )
        new.client.execute_command("REPLICAOF", "NO", "ONE")
        leads[0].at = leads[1].at = 1
        await count(one)
        failover = one.changed_at
        await count(late)
        assert failover is not None
        assert late.changed_at is not None
        assert (late.changed_at > failover, last.changed_at) == (True, None)

        leads[0].at = 0
        await count(one)
        back = one.changed_at
        assert back is not None
        assert back > failover
        leads[0].at = leads[2].at = 1
        await count(one)
        await count(last)
        assert one.changed_at is not None
        assert one.changed_at > back
        assert last.changed_at is not None
        assert last.changed_at > one.changed_at
        for client in clients:
            client.close()


async def test_the_list_of_tenants_is_told_again(server: Server) -> None:
    """It may have been lost alone; whoever knows a tenant puts it back."""
    one, client = memory(server)
    await count(one)
    server.client.delete(shared_key("tenants"))

    assert await one.names() == ("acme",)
    client.close()


async def test_the_secret_of_holds_is_sealed(server: Server) -> None:
    """With the key it opens for everybody, with another for nobody; a first key seals what lay open."""
    plain, first = memory(server)
    secret = (await plain.tenant("acme")).digests.secret
    sealed, second = memory(server, Sealer.parse(SEAL_KEY))
    assert (await sealed.tenant("acme")).digests.secret == secret
    stored = server.client.execute_command("HGET", tenant_key("acme"), "secret", NEVER_DECODE=True)
    assert secret not in stored

    rotated, third = memory(server, Sealer.parse(f"{OTHER_KEY},{SEAL_KEY}"))
    assert (await rotated.tenant("acme")).digests.secret == secret
    for key in (SEAL_KEY, ""):
        wrong, client = memory(server, Sealer.parse(key))
        with pytest.raises(SealError):
            await wrong.tenant("acme")
        client.close()
    for client in (first, second, third):
        client.close()


async def test_many_at_once_meet_it_once(server: Server) -> None:
    """A hundred callers of a tenant that is new here ask for it once between them."""
    one, client = memory(server)
    await asyncio.gather(*(count(one) for _ in range(100)))

    stats = server.client.info("commandstats")
    assert one.epoch
    assert "cmdstat_hsetnx" in stats
    assert "secret" not in repr(await one.tenant("acme"))
    client.close()
