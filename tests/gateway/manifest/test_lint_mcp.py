"""The linter's rules about MCP tools, with their places."""

import json
from typing import Any

import pytest

from tests.gateway.manifest.mcp.sample_mcp import KEYED_OVER_MCP, over_mcp
from tests.gateway.manifest.sample import KEYED, READ, changed, complaints, errors

CASES: list[tuple[dict[str, Any], str, str, str]] = [
    (over_mcp(args=["-v"]), "no-effect", "args", "without `command`"),
    (over_mcp(env={"A": "b"}), "no-effect", "env", "without `command`"),
    (over_mcp(headers={"Mcp-Session-Id": "x"}), "header", "Mcp-Session-Id", "set by the gateway"),
    (over_mcp(headers={"ACCEPT": "x"}), "header", "ACCEPT", "set by the gateway"),
    (over_mcp(headers={"Host": "x"}), "header", "Host", "set by the gateway"),
    (changed(over_mcp(KEYED), {"downstream_key.in": "header"}), "downstream-key", "in", "write `argument`"),
    (changed(over_mcp(KEYED), {"downstream_key.in": "body"}), "downstream-key", "in", "write `argument`"),
    (changed(KEYED, {"downstream_key.in": "argument"}), "downstream-key", "in", "only an MCP tool has arguments"),
    (changed(KEYED_OVER_MCP, {"downstream_key.name": "order"}), "downstream-key", "name", "has a value already"),
    (
        changed(KEYED_OVER_MCP, {"downstream_key.format": "quoted"}),
        "downstream-key",
        "format",
        "only a header is quoted",
    ),
    (
        changed(KEYED_OVER_MCP, {"downstream_key.replay_marker": "A: b"}),
        "no-effect",
        "replay_marker",
        "neither headers nor a status",
    ),
    (
        changed(KEYED_OVER_MCP, {"downstream_key.in_progress_status": 425}),
        "no-effect",
        "in_progress_status",
        "neither headers nor a status",
    ),
    (
        changed(KEYED_OVER_MCP, {"downstream_key.mismatch_status": 400}),
        "no-effect",
        "mismatch_status",
        "neither headers nor a status",
    ),
]


@pytest.mark.parametrize(("manifest", "rule", "at", "words"), CASES, ids=[f"{it[1]}-{it[2]}" for it in CASES])
def test_what_cannot_work_is_refused_where_it_is_written(
    manifest: dict[str, Any], rule: str, at: str, words: str
) -> None:
    """With its line and column, and how to mend it."""
    text = json.dumps(manifest, indent=1).splitlines()
    found = [it for it in complaints(manifest) if it.severity == "error"]
    assert [it.rule for it in found] == [rule], found
    assert words in found[0].message
    line = next(number for number, row in enumerate(text, 1) if f'"{at}"' in row and number == found[0].line)
    assert text[line - 1][found[0].column - 1] in {'"', "{", "["}


@pytest.mark.parametrize("manifest", [over_mcp(), KEYED_OVER_MCP, {**over_mcp(READ), "name": "other"}])
def test_what_can_work_is_let_through(manifest: dict[str, Any]) -> None:
    """A write that a person settles, a write with a key, and a read."""
    assert errors(manifest) == []
