"""A few runs of each fault, and each protection taken out: `make faults` plays them all."""

from collections.abc import Sequence

import pytest

from bench.faults.__main__ import text
from bench.faults.catalogue import FAULTS
from bench.faults.run import run
from bench.faults.unsafe import PROTECTIONS

pytestmark = pytest.mark.slow

ROWS = {fault.id: fault for fault in FAULTS}
SEED = 7
ANY_TIME_S = 60.0
"""How fast the machine is is not what is tested."""
RUNS: dict[str, Sequence[int]] = {
    "F10": (0, 4, 8),
    "F11": (6, 9, 19, 23, 30),
    "F12": (0, 2, 4),
    "F13": (0, 1),
    "F13b": (0, 1),
    "F15": (0,),
    "F17": (0, 1, 2),
    "F20": (0, 1, 2, 3),
    "F21": (0,),
}
CONTROLS = [
    ("F10", "fail-open", (0,)),
    ("F10", "stock-retries", (3, 4)),
    ("F11", "plain-set-nx", (1, 2)),
    ("F12", "memory-not-identified", (0,)),
    ("F13", "memory-not-identified", (0,)),
    ("F13b", "closed-pool-cancels", range(3)),
    ("F15", "no-drain", (0,)),
    ("F17", "any-writer-wins", range(20)),
    ("F20", "approval-for-any-amount", (1, 5, 9)),
    ("F20", "approvals-never-lapse", (3, 7)),
    ("F21", "half-open-for-all", (0,)),
]


@pytest.mark.parametrize("name", RUNS)
async def test_nothing_is_violated(name: str) -> None:
    """Effects in the provider's ledger, results and denials that were told: all of it holds."""
    result = await run(ROWS[name], RUNS[name], SEED, slack_s=ANY_TIME_S)

    assert result.as_it_should_be, text(result)


@pytest.mark.parametrize(("name", "protection", "runs"), CONTROLS)
async def test_without_the_protection_something_is(name: str, protection: str, runs: Sequence[int]) -> None:
    """The same runs with one part exchanged show the violation that this part is there to prevent: the test bites."""
    result = await run(ROWS[name], runs, SEED, without=protection, slack_s=5.0, one_is_enough=True)

    assert result.as_it_should_be, f"{text(result)} {result.violations}"


def test_every_row_and_every_control_is_here() -> None:
    """What `make faults` plays is played here, too."""
    assert set(RUNS) == set(ROWS)
    assert {(name, protection) for name, protection, _ in CONTROLS} == {
        (fault.id, protection) for fault in FAULTS for protection in fault.controls
    }
    assert {protection for _, protection, _ in CONTROLS} == set(PROTECTIONS)
