"""Messages as clients of both eras send them."""

import json
from typing import Any

from tests.gateway.fronts.http.served import Served

MODERN = "2026-07-28"
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "a-client", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def message(method: str, params: dict[str, Any] | None = None, *, rpc_id: Any = 1) -> dict[str, Any]:
    """A request as JSON-RPC has it."""
    return {"jsonrpc": "2.0", "id": rpc_id, "method": method, **({} if params is None else {"params": params})}


def modern(method: str, params: dict[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
    """The same with what the revision of 2026 wants in `_meta`; `meta` adds to it."""
    return message(method, {**(params or {}), "_meta": {**META, **meta}})


async def send(served: Served, document: Any, **headers: str) -> tuple[int, dict[str, str], Any]:
    """POST it with these headers and no others that the protocol has."""
    return await served.post("/mcp", json.dumps(document).encode(), Host="localhost", **headers)


async def ask(served: Served, method: str, params: dict[str, Any] | None = None, **meta: Any) -> Any:
    """A whole request of the revision of 2026; the body of its answer, which must come with 200."""
    status, _, body = await ask_for_status(served, method, params, **meta)
    assert status == 200, body
    return body


async def ask_for_status(
    served: Served, method: str, params: dict[str, Any] | None = None, **meta: Any
) -> tuple[int, dict[str, str], Any]:
    """The same with its status and headers."""
    headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
    if params and "name" in params:
        headers["Mcp_Name"] = str(params["name"])
    return await send(served, modern(method, params, **meta), **headers)
