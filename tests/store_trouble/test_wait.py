"""`store_wait`: no send whose mark a failover could lose."""

from collections.abc import Iterator

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.stages.execute.operation.record import State
from tests import redis_servers
from tests.gateway.pipeline.rig import plain
from tests.redis_servers import Server
from tests.store_trouble.conftest import MakeRig
from tests.store_trouble.stores import opener, served, until


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
