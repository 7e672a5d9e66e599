"""An MCP server as its own documentation has it, straight in front of the provider. Run in the environment of mcp 2.x."""

import socket
import sys

import httpx2  # type: ignore[import-not-found]  # of this server's own environment
import uvicorn
from mcp.server import MCPServer  # type: ignore[import-not-found]  # as above

server = MCPServer("payments")
provider = sys.argv[1]


@server.tool()  # type: ignore[untyped-decorator]  # the library is not there for the type checker
async def issue_refund(order_id: str, payment_id: str, amount_paise: int) -> str:
    """Refund one captured payment of an order."""
    async with httpx2.AsyncClient(timeout=10) as client:
        body = {"payment": payment_id, "paise": amount_paise}
        answer = await client.post(f"{provider}/orders/{order_id}/refunds", json=body)
        return str(answer.raise_for_status().text)


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run([listening])
