"""The `mcp` SDK 1.x: revision 2025-11-25."""

import asyncio
import datetime as dt

from mcp import ClientSession  # type: ignore[import-not-found]  # of this client's own environment
from mcp.client.streamable_http import streamablehttp_client  # type: ignore[import-not-found]  # as above

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One session, as many calls as the agent makes."""
    wanted = asked()
    async with (
        streamablehttp_client(wanted.url, headers=wanted.headers) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()

        async def once() -> tuple[bool, str]:
            patience = dt.timedelta(seconds=PATIENCE_S)
            result = await session.call_tool(wanted.tool, wanted.arguments, read_timeout_seconds=patience)
            return not result.isError, result.content[0].text

        await persist(once, wanted.tries)


asyncio.run(main())
