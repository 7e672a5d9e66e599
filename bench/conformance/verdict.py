"""From what the suite wrote to one row a scenario."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from bench.conformance.reasons import INAPPLICABLE

_MOMENT: Final = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z?\Z")


class Result(StrEnum):
    """What became of a scenario."""

    PASSED = "passed"
    INAPPLICABLE = "inapplicable"
    UNCHECKED = "nothing checked"
    """The suite found nothing in it that this server does."""
    FAILED = "FAILED"
    STALE = "STALE"
    """It passes, and is still listed as inapplicable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scenario. `why` is the reason of what does not apply, or the suite's words for what failed."""

    scenario: str
    result: Result
    passed: int
    why: str = ""

    @property
    def is_red(self) -> bool:
        """Whether somebody has to look."""
        return self.result in (Result.FAILED, Result.STALE)


def judge(scenario: str, checks: Sequence[Mapping[str, Any]]) -> Row:
    """The row of one scenario."""
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    failed = [check for check in checks if check["status"] == "FAILURE"]
    whole = INAPPLICABLE.get(scenario)
    if whole is not None:
        result = Result.INAPPLICABLE if failed else Result.STALE
        return Row(scenario=scenario, result=result, passed=passed, why=whole)
    unexpected = [check for check in failed if check["id"] not in INAPPLICABLE]
    if unexpected:
        words = "; ".join(f"{check['id']}: {check.get('errorMessage', '')}" for check in unexpected)
        return Row(scenario=scenario, result=Result.FAILED, passed=passed, why=words)
    reasons = dict.fromkeys(INAPPLICABLE[check["id"]] for check in failed)
    if not passed and not failed:
        return Row(scenario=scenario, result=Result.UNCHECKED, passed=0)
    why = f"{len(failed)} checks inapplicable: {'; '.join(reasons)}" if failed else ""
    return Row(scenario=scenario, result=Result.PASSED, passed=passed, why=why)


def read(folder: Path) -> list[Row]:
    """The rows of a run whose output is in `folder`, by the names of the scenarios."""
    rows = [
        judge(scenario_of(file.parent.name), json.loads(file.read_text(encoding="utf-8")))
        for file in folder.glob("*/checks.json")
    ]
    return sorted(rows, key=lambda row: row.scenario)


def scenario_of(folder: str) -> str:
    """The suite names its folders `server-SCENARIO-MOMENT`."""
    return _MOMENT.sub("", folder.removeprefix("server-"))


def table(title: str, rows: Iterable[Row]) -> str:
    """As Markdown."""
    lines = [f"### {title}", "", "| scenario | result | checks passed | why |", "|---|---|---|---|"]
    lines += [f"| {row.scenario} | {row.result} | {row.passed} | {row.why} |" for row in rows]
    return "\n".join(lines)
