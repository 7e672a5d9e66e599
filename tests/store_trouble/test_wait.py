"""`store_wait`: no send whose mark a failover could lose."""

from collections.abc import Iterator

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.stages.execute.operation.ports import Applied, Change, StoreUnavailableError
from gateway.stages.execute.operation.record import State
from tests import redis_servers
from tests.conformance.moves import drive, history
from tests.gateway.pipeline.rig import plain
from tests.redis_servers import Server
from tests.store_trouble.conftest import MakeRig
from tests.store_trouble.stores import opened, opener, served, until


@pytest.fixture
def replica(kind: str, server: Server) -> Iterator[Server]:
    """A replica that has everything."""
    server.client.config_set("repl-diskless-sync-delay", 0)
    with redis_servers.own(kind, "--replicaof", "127.0.0.1", str(server.port)) as started:
        redis_servers.wait_until(lambda: bool(server.client.set("x", "x")) and server.client.wait(1, 100) == 1)
        yield started


async def test_a_mark_that_a_replica_has_lets_the_write_out(rig: MakeRig, server: Server, replica: Server) -> None:
    """With the replica there, a write goes on as without."""
    gateway = await rig(plain(), store=opener(server.url, store_wait=1))

    assert (await served(gateway)).ok
    assert replica.client.dbsize() == server.client.dbsize()


async def test_a_mark_that_no_replica_has_lets_nothing_out(rig: MakeRig, server: Server, replica: Server) -> None:
    """The replica hears nothing: refused before sending, and the mark is taken back; without the setting it is sent."""
    gateway = await rig(plain(), store=opener(server.url, store_wait=1, answers_within_s=2.0))
    assert (await served(gateway)).ok
    replica.pause()
    try:
        refused = await gateway.call("B")
        record = await until(gateway, State.FREE, order="B")

        assert refused.error is not None
        assert (refused.error.code, refused.error.outcome) == (
            ErrorCode.STORE_UNAVAILABLE,
            CallOutcome.NOT_EXECUTED,
        )
        assert record.unknown_attempts() == ()
        assert len(gateway.provider.sent) == 1
    finally:
        replica.resume()
    await served(gateway, "B")
    assert len(gateway.provider.sent) == 2


async def test_a_mark_that_stands_there_already_is_waited_for_again(server: Server, replica: Server) -> None:
    """Asked again on a new connection, which has nothing to wait for but what it writes itself: it is the same question."""
    store = opened(server.url, store_wait=1)
    claimed, sent = history("a", State.SENT, store.now())
    await drive(store, (claimed,))
    replica.pause()
    try:
        for _ in range(2):
            with pytest.raises(StoreUnavailableError, match="0 of 1 replicas"):
                await store.commit(Change(before=claimed, after=sent))
            server.client.client_kill_filter(_type="normal", skipme=True)
    finally:
        replica.resume()

    assert await store.commit(Change(before=claimed, after=sent)) == Applied()
    await store.close()
