"""The digest of a tool object."""

import hashlib

import pytest

from gateway.manifest.mcp.digest import tool_digest

TOOL = {"name": "refund", "description": "Refund.", "inputSchema": {"type": "object"}, "_meta": {"a": 1.5}}


def test_it_is_the_hash_of_the_canonical_form() -> None:
    """Anybody can compute it."""
    written = b'{"_meta":{"a":1.5},"description":"Refund.","inputSchema":{"type":"object"},"name":"refund"}'
    assert tool_digest(TOOL) == f"sha256:{hashlib.sha256(written).hexdigest()}"
    assert tool_digest(dict(reversed(TOOL.items()))) == tool_digest(TOOL)


@pytest.mark.parametrize(
    "change", [{"description": "refund."}, {"title": "x"}, {"annotations": {}}, {"_meta": {}}, {"inputSchema": {}}]
)
def test_nothing_is_left_out(change: dict[str, object]) -> None:
    """Words, hints and schemas all tell a model what to do."""
    assert tool_digest({**TOOL, **change}) != tool_digest(TOOL)


def test_what_has_no_canonical_form_has_no_digest() -> None:
    """Two readers could take it for two tools."""
    assert tool_digest({**TOOL, "n": 2**60}) is None
