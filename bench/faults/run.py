"""Plays a fault so many times, on processes of its own, and keeps what was wrong."""

import random
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.faults.catalogue import Fault
from bench.faults.unsafe import command_without


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one row.

    Attributes:
        runs: the numbers of the runs.
        violations: by the number of the run.
        without: the protection that was taken out, if one was.
        broken: why it came to no end; it then says nothing about the gateway.
    """

    fault: Fault
    runs: Sequence[int]
    violations: dict[int, list[str]]
    without: str | None = None
    broken: str | None = None

    @property
    def as_it_should_be(self) -> bool:
        """No violation; without a protection, the one that it is there to prevent."""
        control = None if self.without is None else self.fault.controls.get(self.without)
        wrong = [each for run in self.violations.values() for each in run]
        if self.broken is not None:
            return False
        if control is not None:
            return any(re.search(control.shows, each) for each in wrong)
        return bool(wrong) is (self.without is not None)

    @property
    def violated(self) -> int:
        """Runs with at least one violation."""
        return len(self.violations)


async def run(
    fault: Fault,
    runs: Sequence[int],
    seed: int,
    *,
    without: str | None = None,
    slack_s: float = 1.0,
    one_is_enough: bool = False,
) -> Result:
    """Play these runs; the dice of each fall by the seed, the row and the run's number alone.

    `one_is_enough`: the first run with a violation is the last.
    """
    violations: dict[int, list[str]] = {}
    broken: str | None = None
    conditions = replace(fault.conditions, command=command_without(without), slack_s=slack_s)
    number = runs[0]
    try:
        with tempfile.TemporaryDirectory(prefix="oncegate-faults-") as folder:
            async with fault.open(Path(folder) / fault.id, conditions) as site:
                for number in runs:
                    site.dice = random.Random(f"{seed}-{fault.id}-{number}")  # noqa: S311 - a run that comes back
                    site.number = number
                    if wrong := await fault.play(site):
                        violations[number] = wrong
                        if one_is_enough:
                            break
    except Exception as problem:  # noqa: BLE001 - a run that breaks is wrong, and its site good for no other
        broken = f"run {number} did not end: {type(problem).__name__} {problem}"
    return Result(fault=fault, runs=runs, violations=violations, without=without, broken=broken)
