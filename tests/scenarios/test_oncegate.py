import pytest

from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.oncegate import OnceGate
from bench.scenarios.run import Plan, run
from bench.scenarios.stage import Column
from bench.scenarios.table import row_text

GATEWAY = (Column.PLAIN, Column.KEYED, Column.LOOKUP)


@pytest.mark.slow
@pytest.mark.parametrize("name", [each.id for each in SCENARIOS])
async def test_one_intention_is_one_effect(name: str) -> None:
    """The row is right for every class of write, with real processes and a provider that misbehaves."""
    plan = Plan(new_target=OnceGate, columns=GATEWAY)
    rows = [row async for row in run([each for each in SCENARIOS if each.id == name], plan)]

    assert [row.passed for row in rows] == [True], row_text(rows[0])
