"""crewAI's MCP client, with the three attempts that it makes by default."""

import asyncio
import os

from crewai.mcp import MCPClient  # type: ignore[import-not-found]  # of this client's own environment
from crewai.mcp.transports import HTTPTransport  # type: ignore[import-not-found]  # as above

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One client, as many calls as the agent makes."""
    wanted = asked()
    client = MCPClient(HTTPTransport(wanted.url, headers=wanted.headers), execution_timeout=PATIENCE_S)
    await client.connect()

    async def once() -> tuple[bool, str]:
        told = str(await client.call_tool(wanted.tool, dict(wanted.arguments)))
        return '"ok":false' not in told and not told.startswith("Error"), told

    await persist(once, wanted.tries)
    # After a call that failed its `disconnect` may never return.
    os._exit(0)


asyncio.run(main())
