from dataclasses import replace
from typing import Any

import pytest

from gateway.fronts.mcp.listing import PAGE, page_of
from gateway.fronts.mcp.messages import ProtocolError, RpcCode
from tests.gateway.fronts.http.fake_core import REFUND

THREE = [replace(REFUND, name=name) for name in ("a", "b", "c")]


def names(page: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in page["tools"]]


def pages(size: int) -> list[list[str]]:
    cursor, found = None, []
    while True:
        page = page_of(THREE, cursor, has_run=False, has_key=False, size=size)
        found.append(names(page))
        if "nextCursor" not in page:
            return found
        cursor = page["nextCursor"]


@pytest.mark.parametrize(
    ("size", "found"),
    [(1, [["a"], ["b"], ["c"]]), (2, [["a", "b"], ["c"]]), (3, [["a", "b", "c"]]), (PAGE, [["a", "b", "c"]])],
)
def test_every_tool_is_on_one_page(size: int, found: list[list[str]]) -> None:
    """In order, none twice, and no empty page at the end."""
    assert pages(size) == found


def test_a_page_begins_after_a_name() -> None:
    """A tool that has gone in between shifts nothing."""
    cursor = page_of(THREE, None, has_run=False, has_key=False, size=2)["nextCursor"]

    assert names(page_of([THREE[0], THREE[2]], cursor, has_run=False, has_key=False)) == ["c"]


@pytest.mark.parametrize("cursor", ["", "%", "a", "_w==", 7, ["YQ=="], "A" * 400])
def test_a_cursor_that_is_not_ours_is_refused(cursor: Any) -> None:
    """And the client is told to begin again."""
    with pytest.raises(ProtocolError) as refused:
        page_of(THREE, cursor, has_run=False, has_key=False)

    assert refused.value.code is RpcCode.INVALID_PARAMS


def test_tools_that_would_always_refuse_are_not_listed() -> None:
    """One that counts by run needs a run, one that counts by the caller's key a client that sends one."""
    tools = [THREE[0], replace(THREE[1], needs_run_id=True), replace(THREE[2], needs_key=True)]

    assert names(page_of(tools, None, has_run=False, has_key=False)) == ["a"]
    assert names(page_of(tools, None, has_run=True, has_key=False)) == ["a", "b"]
    assert names(page_of(tools, None, has_run=False, has_key=True)) == ["a", "c"]
    assert names(page_of(tools, None, has_run=True, has_key=True)) == ["a", "b", "c"]
