"""`tools/list`: the caller's tools, page by page, in the order of their names."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final

from gateway.contract.requests import ToolSummary
from gateway.fronts.http.formats import mcp_tool
from gateway.fronts.mcp.messages import ProtocolError, RpcCode

PAGE: Final = 200
"""Tools a page. Most clients ask once, so most catalogues should fit into one."""
_MAX_CURSOR: Final = 256


def page_of(
    summaries: Sequence[ToolSummary], cursor: Any, *, has_run: bool, has_key: bool, size: int = PAGE
) -> dict[str, Any]:
    """One page: `tools`, and `nextCursor` when there are more.

    A tool that needs a run id, or a key of the caller's own, is listed to requests that bring one: to others it would
    be a tool that always refuses.

    Raises:
        ProtocolError: the cursor is not one of ours.
    """
    after = "" if cursor is None else _name_of(cursor)
    listed = [
        summary
        for summary in summaries
        if summary.name > after and (has_run or not summary.needs_run_id) and (has_key or not summary.needs_key)
    ]
    page: dict[str, Any] = {"tools": [mcp_tool(summary) for summary in listed[:size]]}
    if len(listed) > size:
        page["nextCursor"] = _cursor(listed[size - 1].name)
    return page


def _cursor(name: str) -> str:
    # After a name rather than at a number: a catalogue that changes in between shifts nothing.
    return base64.urlsafe_b64encode(name.encode()).decode()


def _name_of(cursor: Any) -> str:
    try:
        if isinstance(cursor, str) and 0 < len(cursor) <= _MAX_CURSOR:
            return base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        pass
    raise ProtocolError(RpcCode.INVALID_PARAMS, "The cursor is not one of this server. Begin again without one.")
