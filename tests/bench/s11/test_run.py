"""S11, bounded: a few kills in each window on each store; `make s11` makes a hundred."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench import postgres
from bench.s11.__main__ import STORES, line
from bench.s11.run import TITLES, Row, Site, open_site, play

pytestmark = pytest.mark.slow
EACH = 4


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """A provider and a gateway, as processes."""
    async with open_site(tmp_path) as opened:
        yield opened


async def test_S11_every_window_on_both_stores_makes_one_refund_and_the_same_state(  # noqa: N802 - an id of the list
    site: Site, tmp_path: Path
) -> None:
    """Real SIGKILL, real Postgres: each task ends as if nothing had happened, with one refund."""
    with postgres.server() as address:
        for store in (str(tmp_path / "runs.db"), postgres.url_of(address)):
            for window in TITLES:
                row = await play(site, window, store, tasks=EACH, at_once=2)

                assert row.passed, line(row, 0)


async def test_a_second_refund_is_seen_in_the_ledger_and_in_the_state(site: Site, tmp_path: Path) -> None:
    """The comparison bites: with a refund made past everybody the task is counted, and is another."""
    await site.provider.refund_by_hand("ORD-20001", payment="p", paise=1)
    row = await play(site, "C", str(tmp_path / "runs.db"), tasks=1, at_once=1)

    assert (row.passed, dict(row.effects), row.different) == (False, {2: 1}, 1)


def test_a_second_refund_a_survivor_or_another_state_fails_the_row() -> None:
    """Each of the three figures is judged, and the line says so."""
    right = Row(window="A", store="sqlite", tasks=2, killed=2)
    right.effects.update([1, 1])
    twice = Row(window="A", store="sqlite", tasks=2, killed=2)
    twice.effects.update([1, 2])
    survivor = Row(window="A", store="sqlite", tasks=2, killed=1)
    survivor.effects.update([1, 1])
    other = Row(window="A", store="sqlite", tasks=2, killed=2, different=1, first_difference="steps 4, not 3")
    other.effects.update([1, 1])

    assert [row.passed for row in (right, twice, survivor, other)] == [True, False, False, False]
    assert line(right, 1.0).endswith("PASS")
    assert line(other, 1.0).endswith("FAIL\n  steps 4, not 3")
    assert set(STORES) == {"sqlite", "postgres"}
