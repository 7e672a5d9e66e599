from tests.gateway.fronts.http.served import Served


async def test_one_application_speaks_both(served: Served) -> None:
    """A route of `/v1`, and a message at `/mcp`, through the same server."""
    http = await served.client.get("/v1/tools")
    mcp = await served.client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})

    assert (http.status_code, mcp.json()) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
