"""Every id of the acceptance list, and every scenario, is proved by a test that names it."""

from pathlib import Path

import pytest

from docs.acceptance import (
    acceptance_page,
    ids_of,
    missing,
    missing_scenarios,
    proofs,
    scenario_proofs,
    scenarios_of,
    unknown,
    unknown_scenarios,
)
from docs.acceptance_list import PROMISES
from docs.acceptance_scenarios import SCENARIOS


def test_the_list_is_whole() -> None:
    """L01 to L83, A01 to A13, X01 to X06, T01 to T14, each with its words."""
    wanted = [
        f"{letter}{n:02}" for letter, last in (("L", 83), ("A", 13), ("X", 6), ("T", 14)) for n in range(1, last + 1)
    ]

    assert list(PROMISES) == wanted
    assert len(set(PROMISES.values())) == len(wanted)


def test_every_id_has_a_test() -> None:
    """What nobody proves is not promised."""
    assert missing(proofs()) == []


def test_every_id_that_a_test_carries_is_on_the_list() -> None:
    """A misspelt id proves nothing."""
    assert unknown(proofs()) == []


def test_there_are_thirty_scenarios() -> None:
    """Each with its words."""
    assert list(SCENARIOS) == list(range(1, 31))
    assert len(set(SCENARIOS.values())) == 30


def test_every_scenario_has_a_test() -> None:
    """A number that no test names fails here."""
    assert missing_scenarios(scenario_proofs()) == []


def test_every_scenario_that_a_test_names_is_on_the_list() -> None:
    """A mistyped number proves nothing."""
    assert unknown_scenarios(scenario_proofs()) == []


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("test_scenario_7_of_three", (7,)),
        ("test_L61_X06_scenario_5_10_of_two", (5, 10)),
        ("test_L61_of_two", ()),
        ("test_a_scenario_is_told", ()),
        ("test_scenario_7", ()),
    ],
)
def test_scenarios_stand_anywhere_in_a_name(name: str, numbers: tuple[int, ...]) -> None:
    """Behind the ids if there are any, and followed by words."""
    assert scenarios_of(name) == numbers


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("test_L57_L58_a_crash", ("L57", "L58")),
        ("test_X01_admission", ("X01",)),
        ("test_a_crash_L57_later", ()),
        ("test_L5_short", ()),
        ("test_L57", ()),
    ],
)
def test_ids_stand_at_the_beginning_of_a_name(name: str, ids: tuple[str, ...]) -> None:
    """And are followed by words."""
    assert ids_of(name) == ids


def test_the_page_names_each_test_and_what_has_none(tmp_path: Path) -> None:
    """Tests in classes count; functions that are no tests do not."""
    tests = tmp_path / "tests" / "deep"
    tests.mkdir(parents=True)
    (tests / "test_b.py").write_text("def test_L03_scenario_2_it(): ...\n")
    (tests / "test_a.py").write_text(
        "async def test_L01_X01_one(): ...\nclass TestIt:\n    def test_L01_two(self): ...\ndef helps_L02_(): ...\n"
    )
    page = acceptance_page(tmp_path)

    links = "[`test_L01_X01_one`](../tests/deep/test_a.py)<br>[`test_L01_two`](../tests/deep/test_a.py)"
    assert f"| L01 | {PROMISES['L01']} | {links} |" in page
    assert f"| L02 | {PROMISES['L02']} | **none** |" in page
    assert missing(proofs(tmp_path))[:2] == ["L02", "L04"]
    assert unknown(["L01", "L84"]) == ["L84"]
    assert f"| 2 | {SCENARIOS[2]} | [`test_L03_scenario_2_it`](../tests/deep/test_b.py) |" in page
    assert f"| 3 | {SCENARIOS[3]} | **none** |" in page
    assert missing_scenarios(scenario_proofs(tmp_path))[:2] == [1, 3]
    assert unknown_scenarios([30, 31]) == [31]
