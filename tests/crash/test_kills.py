"""SIGKILL at each point of the crash table, over real processes, sockets, one SQLite file and a provider's ledger."""

import asyncio
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.demo.provider_process import ProviderProcess
from tests.crash.book import Tally
from tests.crash.fleet import Fleet
from tests.crash.points import ROWS, Row
from tests.crash.site import Site
from tests.crash.trickle import Trickle

KILLS = int(os.environ.get("ONCEGATE_CRASH_KILLS", "20"))
LANES = 4


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=[row.point.value for row in ROWS])
async def test_no_kill_breaks_the_promise(
    row: Row, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """One effect, one row for every answer, and an end that somebody can see, wherever the gateway died."""
    tally = Tally()
    provider = await ProviderProcess.start(tmp_path)
    try:
        async with Fleet(tmp_path / "gateways.log") as fleet, Trickle(provider.url) as trickle:
            orders = itertools.count(1)
            sites = [
                Site(
                    row=row,
                    # In the background it is the victim who must come by, not the survivor.
                    sweeping=lane % 2 == 1 and not row.background,
                    fleet=fleet,
                    provider=provider,
                    trickle=trickle,
                    folder=tmp_path / f"lane-{lane}",
                    orders=orders,
                    tally=tally,
                )
                for lane in range(min(LANES, KILLS))
            ]
            shares = [len(range(lane, KILLS, LANES)) for lane in range(len(sites))]
            await asyncio.gather(*(site.play(share) for site, share in zip(sites, shares, strict=True)))
    finally:
        await provider.stop()
        record_property("crash", [row.point.value, tally.line()])
    assert not tally.violations
    assert tally.kills == KILLS
