"""Every id of the acceptance list is proved by a test that names it."""

from pathlib import Path

import pytest

from docs.acceptance import acceptance_page, ids_of, missing, proofs, unknown
from docs.acceptance_list import PROMISES


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
    (tests / "test_a.py").write_text(
        "async def test_L01_X01_one(): ...\nclass TestIt:\n    def test_L01_two(self): ...\ndef helps_L02_(): ...\n"
    )
    page = acceptance_page(tmp_path)

    links = "[`test_L01_X01_one`](../tests/deep/test_a.py)<br>[`test_L01_two`](../tests/deep/test_a.py)"
    assert f"| L01 | {PROMISES['L01']} | {links} |" in page
    assert f"| L02 | {PROMISES['L02']} | **none** |" in page
    assert missing(proofs(tmp_path))[:2] == ["L02", "L03"]
    assert unknown(["L01", "L84"]) == ["L84"]
