"""SIGKILL at each point of the crash table, over real processes, sockets, one SQLite file and a provider's ledger."""

import asyncio
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.nursery import forked
from gateway.demo.provider_process import ProviderProcess
from tests.crash.book import Tally
from tests.crash.fleet import Fleet
from tests.crash.points import ROWS, Point, Row
from tests.crash.site import Site
from tests.crash.trickle import Trickle

KILLS = int(os.environ.get("ONCEGATE_CRASH_KILLS", "20"))
LANES = 4

pytestmark = pytest.mark.slow


async def played(row: Row, folder: Path, *, kills: int, without: str | None = None) -> Tally:
    """Kill so many gateways at one point, spread over stores of their own, and see what came of it."""
    tally, orders = Tally(), itertools.count(1)
    provider = await ProviderProcess.start(folder, launch=forked)
    try:
        async with Fleet(folder / "gateways.log") as fleet, Trickle(provider.url) as trickle:
            lanes = min(LANES, kills)
            sites = [
                Site(
                    row=row,
                    fleet=fleet,
                    provider=provider,
                    trickle=trickle,
                    # In the background it is the victim who must come by, not the survivor.
                    sweeping=lane % 2 == 1 and not row.background,
                    folder=folder / f"lane-{lane}",
                    orders=orders,
                    tally=tally,
                    without=without,
                )
                for lane in range(lanes)
            ]
            await asyncio.gather(*(site.play(len(range(lane, kills, lanes))) for lane, site in enumerate(sites)))
    finally:
        await provider.stop()
    return tally


@pytest.mark.parametrize("row", ROWS, ids=[row.point.value for row in ROWS])
async def test_no_kill_breaks_the_promise(
    row: Row, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """One effect, one row for every answer, and an end that somebody can see, wherever the gateway died."""
    tally = await played(row, tmp_path, kills=KILLS)
    record_property("crash", [row.point.value, tally.line()])

    assert not tally.violations, "\n".join(tally.violations)
    assert tally.kills == KILLS


async def test_without_the_rule_for_dead_owners_the_kills_show_it(tmp_path: Path) -> None:
    """Where a dead lease frees what was sent, the same kills leave two effects: these tests can fail."""
    [row] = [row for row in ROWS if row.point is Point.DELIVERED]
    tally = await played(row, tmp_path, kills=2, without="lease-expiry-frees")

    assert any("2 effects in the end" in each for each in tally.violations)
