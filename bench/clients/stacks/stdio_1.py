"""The `mcp` SDK 1.x over standard input and output, to `oncegate mcp`."""

import asyncio
import datetime as dt
import os

from mcp import ClientSession, StdioServerParameters  # type: ignore[import-not-found]  # of this client's own environment
from mcp.client.stdio import stdio_client  # type: ignore[import-not-found]  # as above

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One bridge, as many calls as the agent makes."""
    wanted = asked()
    key = wanted.headers["Authorization"].removeprefix("Bearer ")
    bridge = StdioServerParameters(
        command=os.environ["ONCEGATE"], args=["mcp"], env={"ONCEGATE_URL": wanted.url, "ONCEGATE_KEY": key}
    )
    async with stdio_client(bridge) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def once() -> tuple[bool, str]:
            patience = dt.timedelta(seconds=PATIENCE_S)
            result = await session.call_tool(wanted.tool, wanted.arguments, read_timeout_seconds=patience)
            return not result.isError, result.content[0].text

        await persist(once, wanted.tries)


asyncio.run(main())
