"""A failover that sentinels decide, and a cluster in which tenants live apart."""

import asyncio

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.stages.execute.operation.ports import OperationFilter
from tests.gateway.pipeline.rig import ALL, keyed, plain
from tests.redis_fleets import clustered, watched
from tests.redis_sentinels import ScriptedSentinel
from tests.store_trouble.conftest import MakeRig
from tests.store_trouble.stores import opener, served

pytestmark = pytest.mark.slow


async def test_a_failover_is_followed_and_noticed(rig: MakeRig, kind: str) -> None:
    """The new master is found and has the records; the epoch is another, and plain writes wait."""
    with watched(kind) as fleet:
        gateway = await rig(keyed(), plain({"name": "other", "identity.operation": "other"}), store=opener(fleet.url))
        first = await served(gateway)
        assert first.ok
        await asyncio.to_thread(fleet.fail_over)
        again = await served(gateway)
        fresh = await served(gateway, "B")
        waits = await gateway.call("C", tool="other")

        assert (again.meta.replayed, again.data) == (True, first.data)
        assert again.meta.store_epoch != first.meta.store_epoch
        assert fresh.ok
        assert waits.error is not None
        assert waits.error.code is ErrorCode.STORE_UNAVAILABLE
        assert len(gateway.provider.sent) == 2
        await gateway.store.close()


async def test_nobody_goes_back_to_a_master_that_has_come_back(rig: MakeRig, kind: str) -> None:
    """It is a master still, and the first of the sentinels, which was cut off, names it: what was done since is replayed."""
    with watched(kind) as fleet:
        async with ScriptedSentinel(names=fleet.master.port) as stale:
            stale.hung = True
            url = fleet.url.replace("://", f"://127.0.0.1:{stale.port},")
            # A question to the hanging master ends by itself, also where a busy machine's sentinels are not heard in time.
            gateway = await rig(keyed(), store=opener(url, answers_within_s=2.0))
            first = await served(gateway)
            assert first.ok, first.error
            await asyncio.to_thread(fleet.fail_over, killed=False)
            fresh = await served(gateway, "B")
            assert fresh.ok, fresh.error
            stale.hung = False
            fleet.master.resume()
            asked = stale.asked
            while stale.asked < asked + 3:
                again = await served(gateway, "B")
                assert (again.meta.replayed, again.data) == (True, fresh.data), again.error
                assert again.meta.store_epoch == fresh.meta.store_epoch
            await gateway.store.close()

        assert len(gateway.provider.sent) == 2


async def test_a_cluster_keeps_tenants_apart(rig: MakeRig, kind: str) -> None:
    """Two tenants on two masters, each with its records; whoever cares for all of them finds both."""
    with clustered(kind) as fleet:
        gateway = await rig(plain(), store=opener(fleet.url))
        tenants = [f"tenant-{n}" for n in range(4)]
        for tenant in tenants:
            caller = Caller(subject="agent", tenant=tenant, permissions=ALL)
            first = await served(gateway, caller=caller)
            again = await served(gateway, caller=caller)
            assert first.ok
            assert (again.meta.replayed, again.data) == (True, first.data)

        lists = [await gateway.store.list_operations(OperationFilter(tenant=tenant)) for tenant in tenants]
        sizes = [node.client.dbsize() for node in fleet.nodes]

        assert [[record.origin.tenant for record in found] for found in lists] == [[tenant] for tenant in tenants]
        assert await gateway.store.forget(retention_s=0.0) == len(tenants)
        assert sum(size > 3 for size in sizes) >= 2
        assert len(gateway.provider.acts) == 4
        await gateway.store.check()
        await gateway.store.close()
