"""Manifests of MCP tools for tests."""

from collections.abc import Mapping
from typing import Any, Final

from tests.gateway.manifest.sample import KEYED, PLAIN, READ, changed

DIGEST: Final = f"sha256:{'0' * 64}"


def over_mcp(base: Mapping[str, Any] = PLAIN, /, **section: Any) -> dict[str, Any]:
    """A manifest whose backend is a tool of an MCP server, with more or other fields of the section."""
    usual = {"url": "${API}/mcp", "tool": "refund", "digest": DIGEST}
    return {**base, "backend": {"mcp": {name: it for name, it in {**usual, **section}.items() if it is not None}}}


READ_OVER_MCP: Final = over_mcp(READ)
KEYED_OVER_MCP: Final = changed(over_mcp(KEYED), {"downstream_key": {"in": "argument", "name": "key", "window": "24h"}})
