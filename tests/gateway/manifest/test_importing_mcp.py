"""The tools of a server as drafts."""

from typing import Any

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.manifest.importing_mcp import import_mcp
from gateway.manifest.mcp.drafts import DraftError, Place

PLACE = Place(prefix="SHOP", owner="payments", path="/mcp")


def tool(name: Any, **more: Any) -> dict[str, Any]:
    """A tool that takes one text."""
    return {"name": name, "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}, **more}


def test_every_draft_waits_for_a_decision() -> None:
    """None loads as it is: what a tool does is a person's to say."""
    result = import_mcp([tool("one"), tool("two")], PLACE, CelEngine())
    assert [(row.tool, row.decide) for row in result.rows] == [
        ("one", ("identity", "how an unknown outcome is settled")),
        ("two", ("identity", "how an unknown outcome is settled")),
    ]
    assert sorted(result.drafts) == ["one.yaml", "two.yaml"]


def test_names_are_made_fit_and_stay_apart() -> None:
    """Also where file names know no case."""
    names = ["a/b", "a b", "A_B", "..", "\u202e"]
    result = import_mcp([tool(name) for name in names], PLACE, CelEngine())
    assert [row.tool for row in result.rows] == ["a_b", "a_b_2", "A_B_3", "tool", "tool_2"]
    assert result.rows[4].shown == ""


def test_what_is_refused_has_its_reason() -> None:
    """A name that is shown twice is neither of the two; what is no tool is passed over."""
    result = import_mcp([tool("one"), tool("one"), tool("bad", inputSchema=1), tool(5), "x", None], PLACE, CelEngine())
    assert [row.tool for row in result.rows] == [None, None, None]
    assert all(row.reason for row in result.rows)
    assert result.drafts == {}


def test_only_some() -> None:
    """And a name that the server does not show is said to be none."""
    assert list(import_mcp([tool("one"), tool("two")], PLACE, CelEngine(), only=["two"]).drafts) == ["two.yaml"]
    with pytest.raises(DraftError, match="did you mean `two`"):
        import_mcp([tool("two")], PLACE, CelEngine(), only=["tow"])
