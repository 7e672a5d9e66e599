"""A write that was answered without a change of its record has its row all the same, when the answer is out."""

import itertools
from pathlib import Path

import pytest

from gateway.adapters.files.keys import create_key
from gateway.demo.provider_process import ProviderProcess
from tests.crash.book import Client, Operation, Tally, compare_rows
from tests.crash.fleet import Fleet, Gateway
from tests.crash.launcher import Errand
from tests.crash.points import PLAIN
from tests.crash.site import LEASE_S, MANIFESTS, PERMISSIONS, SWEEP_S
from tests.crash.test_kills import KILLS


@pytest.mark.slow
async def test_a_refusal_is_in_the_book_before_it_is_told(tmp_path: Path) -> None:
    """A stored answer and a conflict with it: the process is killed the moment the client has them."""
    provider = await ProviderProcess.start(tmp_path)
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

            done = Operation(order="ORD-1", tool=PLAIN)
            gateway = await started()
            await client.call(gateway, done)
            for kill in range(KILLS):
                asked = done if kill % 2 else Operation(order="ORD-1", tool=PLAIN, amount_paise=1 + kill)
                assert await client.call(gateway, asked) is not None
                gateway.kill()
                await gateway.ended
                gateway = await started()
            rows = await client.rows(gateway, done.order)
            assert not compare_rows(client.delivered, rows)
            assert len(rows) == len(client.delivered) == KILLS + 1
    finally:
        await client.close()
        await provider.stop()
