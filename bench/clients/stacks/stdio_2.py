"""The `mcp` SDK 2.x over standard input and output, to `oncegate mcp`."""

import asyncio
import os

from mcp import Client, StdioServerParameters  # type: ignore[import-not-found]  # of this client's own environment

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One bridge, as many calls as the agent makes."""
    wanted = asked()
    key = wanted.headers["Authorization"].removeprefix("Bearer ")
    bridge = StdioServerParameters(
        command=os.environ["ONCEGATE"], args=["mcp"], env={"ONCEGATE_URL": wanted.url, "ONCEGATE_KEY": key}
    )
    async with Client(bridge) as client:

        async def once() -> tuple[bool, str]:
            result = await client.call_tool(wanted.tool, wanted.arguments, read_timeout_seconds=PATIENCE_S)
            return not result.is_error, result.content[0].text

        await persist(once, wanted.tries)


asyncio.run(main())
