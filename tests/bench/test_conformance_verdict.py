"""What the official suite said, as one row a scenario."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.conformance.reasons import INAPPLICABLE
from bench.conformance.verdict import Result, judge, read, scenario_of, table


def checks(*statuses: str, name: str = "some-check") -> list[dict[str, Any]]:
    return [{"id": name, "status": status, "errorMessage": "because"} for status in statuses]


@pytest.mark.parametrize(
    ("scenario", "seen", "result"),
    [
        ("ping", checks("SUCCESS"), Result.PASSED),
        ("ping", checks("SUCCESS", "FAILURE"), Result.FAILED),
        ("ping", checks("SKIPPED"), Result.UNCHECKED),
        ("ping", [], Result.UNCHECKED),
        ("prompts-list", checks("FAILURE"), Result.INAPPLICABLE),
        ("prompts-list", checks("SUCCESS"), Result.STALE),
        ("caching", checks("SUCCESS") + checks("FAILURE", name="sep-2549-prompts-list-caching-hints"), Result.PASSED),
        ("caching", checks("FAILURE") + checks("FAILURE", name="sep-2549-prompts-list-caching-hints"), Result.FAILED),
    ],
)
def test_a_scenario_passes_or_has_a_reason(scenario: str, seen: list[dict[str, Any]], result: Result) -> None:
    """What fails without a reason is red, and so is a reason for what passes."""
    row = judge(scenario, seen)

    assert row.result is result
    assert row.is_red is (result in (Result.FAILED, Result.STALE))
    assert (row.why != "") is ((result is not Result.UNCHECKED and result is not Result.PASSED) or len(seen) > 1)


def test_what_failed_is_told_in_the_words_of_the_suite() -> None:
    """With the check that failed."""
    assert judge("ping", checks("FAILURE")).why == "some-check: because"


def test_the_folders_of_a_run_are_scenarios(tmp_path: Path) -> None:
    """In the order of their names."""
    for scenario in ("tools-list", "json-schema-2020-12", "ping"):
        folder = tmp_path / f"server-{scenario}-2026-11-29T18-48-29-600Z"
        folder.mkdir()
        (folder / "checks.json").write_text(json.dumps(checks("SUCCESS")), encoding="utf-8")

    assert [row.scenario for row in read(tmp_path)] == ["json-schema-2020-12", "ping", "tools-list"]


def test_a_scenario_may_begin_with_the_word_of_its_folder() -> None:
    """`server-server-initialize` is `server-initialize`."""
    assert scenario_of("server-server-initialize-2026-11-29T18-48-29-600Z") == "server-initialize"


def test_the_table_is_markdown() -> None:
    """One line a scenario."""
    lines = table("a title", [judge("ping", checks("SUCCESS"))]).splitlines()

    assert (lines[0], lines[-1]) == ("### a title", "| ping | passed | 1 |  |")


def test_every_reason_is_a_clause() -> None:
    """It stands in a table: no full stop, and not empty."""
    assert all(reason and not reason.endswith(".") for reason in INAPPLICABLE.values())
