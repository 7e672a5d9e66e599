"""Callers that leave in the middle of a question, by the hundred: nobody hears another's answer, no place is lost."""

import asyncio
import random
from dataclasses import replace

import pytest

from gateway.stages.execute.operation.ports import Change, StoreUnavailableError
from tests.conformance.moves import claimed, origin
from tests.redis_servers import Server
from tests.store_trouble.proxy import proxy_to
from tests.store_trouble.stores import opened

_READS = 10_000
_TENANTS = ("acme", "other", "third")
_RECORDS = 40


@pytest.mark.slow
async def test_nobody_hears_anothers_answer(server: Server) -> None:
    """Ten thousand reads through a slow network, every third cancelled at a moment of its own: each answer is its own."""
    drawn = random.Random(7)  # noqa: S311 - a storm that comes back
    async with proxy_to(server.port) as proxy:
        store = opened(f"redis://127.0.0.1:{proxy.port}")
        for tenant in _TENANTS:
            for n in range(_RECORDS):
                record = claimed(f"{tenant}-{n}", store.now(), by=origin(tenant=tenant))
                await store.commit(Change(after=replace(record, holds=())))
        proxy.weather.delay_s = 0.001
        heard = 0
        refusals: list[str] = []

        async def read(tenant: str, n: int) -> None:
            nonlocal heard
            try:
                found = await store.by_key(tenant, f"key-{tenant}-{n}-1")
            except StoreUnavailableError as error:
                refusals.append(str(error))
                return
            assert found is not None
            assert (found.origin.tenant, found.key) == (tenant, f"key-{tenant}-{n}-1")
            heard += 1

        async def reader(reads: int) -> None:
            for _ in range(reads):
                task = asyncio.create_task(read(drawn.choice(_TENANTS), drawn.randrange(_RECORDS)))
                patience = drawn.uniform(0, 0.004) if drawn.random() < 0.33 else None
                done, _ = await asyncio.wait({task}, timeout=patience)
                if not done:
                    task.cancel()
                    await asyncio.wait({task})
                if not task.cancelled():
                    await task

        await asyncio.gather(*(reader(_READS // 20) for _ in range(20)))

        # Too busy is an answer; somebody else's, even one that was noticed, is none.
        assert [refusal for refusal in refusals if "belongs" in refusal or "asked for" in refusal] == []
        assert _READS // 2 < heard < _READS
        assert {pool.taken for pool in await store.client._route.masters()} == {0}
        await store.close()
