"""Pages that are made from tables are as the tables are now."""

from pathlib import Path

import pytest

from docs.generate import PAGES
from gateway.contract.codes import FACTS, ErrorCode

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_stale(name: str) -> None:
    """Otherwise: `python -m docs.generate`."""
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name]()


@pytest.mark.parametrize("code", ErrorCode)
def test_both_pages_name_every_code(code: ErrorCode) -> None:
    """The page of codes with its HTTP status, the page of observations with a heading."""
    assert f"| `{code}` | {FACTS[code].status} |" in PAGES["errors.md"]()
    assert f"\n## `{code}`\n" in PAGES["observations.md"]()
