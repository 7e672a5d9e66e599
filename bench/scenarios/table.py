"""The table as text and as JSON."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from bench.scenarios.run import Row
from bench.scenarios.stage import Column, Finding
from bench.scenarios.target import Told

TITLE_WIDTH = 52


def heading(columns: Iterable[Column]) -> str:
    """The names of the columns, over a line."""
    names = "".join(f"{column:>9}" for column in columns)
    line = f"{'':5}{'refunds caused by one intention':{TITLE_WIDTH}}{'right':>6}{names}"
    return f"{line}\n{'-' * (len(line) + 7)}"


def row_text(row: Row) -> str:
    """The figures of one row, then for each column what the caller was told and what is wrong with it."""
    figures = "".join(f"{_figure(finding):>9}" for finding in row.findings.values())
    verdict = ("PASS" if row.passed else "FAIL") if set(row.findings) != {Column.NAIVE} else ""
    lines = [f"{row.scenario.id:5}{row.scenario.title:{TITLE_WIDTH}}{row.scenario.right:>6}{figures}   {verdict}"]
    for column, finding in row.findings.items():
        if finding and column is not Column.NAIVE:
            lines.append(f"{'':7}{column:8} told: {in_turn(finding.told)}")
            if finding.wrong:
                lines.append(f"{'':7}{'':8} WRONG: {finding.wrong}")
    return "\n".join(lines)


def in_turn(told: Iterable[Told]) -> str:
    """What was told, in order, with repetitions counted."""
    runs = ((words, len(list(same))) for words, same in groupby(str(each) for each in told))
    return ", then ".join(words if count == 1 else f"{words} x{count}" for words, count in runs) or "-"


def row_json(row: Row) -> dict[str, Any]:
    """One row for a machine."""
    return {
        "id": row.scenario.id,
        "title": row.scenario.title,
        "right": row.scenario.right,
        "passed": row.passed,
        "columns": {column: _finding_json(finding) for column, finding in row.findings.items()},
    }


def _finding_json(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    told = [{"kind": each.kind, "refund_id": each.refund_id, "code": each.code} for each in finding.told]
    return {"effects": finding.effects, "told": told, "wrong": finding.wrong}


def _figure(finding: Finding | None) -> str:
    if finding is None:
        return "-"
    return "?" if finding.effects is None else str(finding.effects)
