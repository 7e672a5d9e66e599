"""Tools that are not there."""

import pytest

from gateway.contract.codes import ErrorCode
from gateway.manifest.catalog import Catalogue
from gateway.stages.validate.existence import find
from gateway.stages.validate.verdict import Rejected
from tests.gateway.manifest.sample import KEYED, READ, compiled

CATALOGUE = Catalogue.of([compiled(KEYED), compiled(READ)])
ALL = frozenset({"things:read", "things:write"})


def test_a_tool_is_found_whoever_asks() -> None:
    """Whether the caller may use it is another check's question."""
    assert find("act", CATALOGUE, frozenset()) is CATALOGUE.tools["act"]


@pytest.mark.parametrize(
    ("permissions", "tools"),
    [(ALL, ("act", "get_status")), (frozenset({"things:read"}), ("get_status",)), (frozenset(), ())],
)
def test_a_refusal_has_the_tools_that_the_caller_may_use(permissions: frozenset[str], tools: tuple[str, ...]) -> None:
    """A hidden tool is never suggested."""
    assert find("acts", CATALOGUE, permissions) == Rejected(code=ErrorCode.UNKNOWN_TOOL, tools=tools)
