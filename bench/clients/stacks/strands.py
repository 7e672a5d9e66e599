"""strands-agents: its MCP client, which runs in a thread of its own."""

import asyncio
import datetime as dt

from strands.tools.mcp import MCPClient  # type: ignore[import-not-found]  # of this client's own environment

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One client, as many calls as the agent makes."""
    wanted = asked()
    with MCPClient(url=wanted.url, headers=wanted.headers) as client:

        async def once() -> tuple[bool, str]:
            patience = dt.timedelta(seconds=PATIENCE_S)
            result = await client.call_tool_async("1", wanted.tool, wanted.arguments, read_timeout_seconds=patience)
            return result["status"] == "success", result["content"][0]["text"]

        await persist(once, wanted.tries)


asyncio.run(main())
