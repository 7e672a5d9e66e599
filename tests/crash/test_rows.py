"""A write that was answered without a change of its record has its row all the same, when the answer is out."""

import itertools
from pathlib import Path

import pytest

from bench.nursery import forked
from gateway.adapters.files.keys import create_key
from gateway.demo.provider_process import ProviderProcess
from tests.crash.book import Client, Operation, Tally, compare_rows, told
from tests.crash.fleet import Fleet, Gateway
from tests.crash.launcher import Errand
from tests.crash.points import PLAIN
from tests.crash.site import LEASE_S, MANIFESTS, PERMISSIONS, SWEEP_S
from tests.crash.test_kills import KILLS


@pytest.mark.slow
async def test_a_refusal_is_in_the_book_before_it_is_told(tmp_path: Path) -> None:
    """An outcome still unknown, and a call that it blocks: the process is killed the moment the client has the answer."""
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    key, _ = create_key(tmp_path / "keys.json", subject="agent", tenant="crash", permissions=PERMISSIONS, attributes={})
    client, numbers = Client(key, Tally()), itertools.count(1)
    try:
        async with Fleet(tmp_path / "gateways.log") as fleet:

            async def started() -> Gateway:
                return await fleet.start(
                    Errand(
                        name=f"{next(numbers)}",
                        folder=str(tmp_path),
                        manifests=str(MANIFESTS),
                        provider_url=provider.url,
                        lease_s=LEASE_S,
                        sweep_s=SWEEP_S,
                    )
                )

            await provider.script("ORD-1", {"ending": "close"})
            unknown = Operation(order="ORD-1", tool=PLAIN)
            blocked = Operation(order="ORD-1", tool=PLAIN, payment="PAY-2")
            gateway = await started()
            await client.call(gateway, unknown)
            for kill in range(KILLS):
                envelope = await client.call(gateway, blocked if kill % 2 else unknown)
                assert envelope is not None
                assert told(envelope)[1] == ("blocked_by_unknown" if kill % 2 else "outcome_unknown")
                gateway.kill()
                await gateway.ended
                gateway = await started()
            rows = await client.rows(gateway, unknown.order)
            assert not compare_rows(client.delivered, rows)
            assert len(rows) == len(client.delivered) == KILLS + 1
    finally:
        await provider.stop()
