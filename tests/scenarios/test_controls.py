"""Each protection taken out in turn: the row that leans on it must go wrong, and only without it."""

import pytest

from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.oncegate import OnceGate
from bench.scenarios.run import Plan, Row, run
from bench.scenarios.stage import Column
from bench.scenarios.table import row_text
from bench.scenarios.unsafe import PROTECTIONS, Without

pytestmark = pytest.mark.slow

CONTROLS = [
    ("look-up-trusted-at-once", "S1L", Column.LOOKUP, "2 effects, not 1"),
    ("look-up-without-baseline", "S9y", Column.LOOKUP, "which is not in the ledger"),
    ("lease-expiry-frees", "S3", Column.PLAIN, "2 effects, not 1"),
    ("lease-expiry-frees", "S5", Column.PLAIN, "2 effects, not 1"),
    ("classified-by-exception", "S9", Column.PLAIN, "effects, not 1"),
    ("classified-by-exception", "S9r", Column.PLAIN, "effects, not 1"),
    ("key-from-raw-arguments", "S10", Column.PLAIN, "one refund got several answers"),
    ("no-hold", "S1o", Column.PLAIN, "2 effects, not 1"),
]


async def play(name: str, plan: Plan) -> Row:
    """Run one row."""
    [row] = [row async for row in run([each for each in SCENARIOS if each.id == name], plan)]
    return row


@pytest.mark.parametrize(("protection", "name", "column", "wrong"), CONTROLS)
async def test_without_the_protection_the_row_is_wrong(protection: str, name: str, column: Column, wrong: str) -> None:
    """With everything on the row is right; with one part exchanged it shows the wrong answer."""
    whole = await play(name, Plan(new_target=OnceGate, columns=(column,)))
    without = await play(name, Plan(new_target=Without(protection), columns=(column,)))
    finding = without.findings[column]

    assert whole.passed, row_text(whole)
    assert finding is not None
    assert wrong in finding.wrong, row_text(without)


def test_every_protection_has_a_control() -> None:
    """No protection can be taken out without a test that says what then goes wrong; the linger's is beside this file."""
    assert {protection for protection, *_ in CONTROLS} == set(PROTECTIONS) - {"no-linger"}
