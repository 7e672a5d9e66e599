"""What the inspector printed, as one row a call."""

from typing import Any

import pytest

from bench.conformance.inspector import CALLS, Printed, judge
from bench.conformance.verdict import Result

LIST, CALL, FAILING = CALLS
TOOLS = {"tools": [{"name": "a"}, {"name": "b"}]}
OK = {"structuredContent": {"ok": True, "error": None}}
REFUSED = {"structuredContent": {"ok": False, "error": {"outcome": "not_executed"}}}


@pytest.mark.parametrize(
    ("name", "status", "document", "right"),
    [
        (LIST, 0, TOOLS, True),
        (LIST, 1, TOOLS, False),
        (LIST, 0, {"tools": [{"name": "a"}]}, False),
        (LIST, 0, "connection refused", False),
        (CALL, 0, OK, True),
        (CALL, 0, REFUSED, False),
        (CALL, 0, {}, False),
        (FAILING, 5, REFUSED, True),
        (FAILING, 0, REFUSED, False),
        (FAILING, 5, OK, False),
        (FAILING, 5, "connection refused", False),
    ],
)
def test_it_has_to_see_what_is_there(name: str, status: int, document: Any, *, right: bool) -> None:
    """The tools by name, an envelope, and a failure told as one."""
    row = judge(name, Printed(status=status, document=document), ["b", "a"])

    assert (row.result, row.is_red) == ((Result.PASSED, False) if right else (Result.FAILED, True))
    assert right or row.why.startswith(f"exit status {status}: ")
