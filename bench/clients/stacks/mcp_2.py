"""The `mcp` SDK 2.x: revision 2026-07-28."""

import asyncio

import httpx2  # type: ignore[import-not-found]  # of this client's own environment
from mcp import Client  # type: ignore[import-not-found]  # as above
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # as above

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One client, as many calls as the agent makes."""
    wanted = asked()
    http = httpx2.AsyncClient(headers=wanted.headers)
    async with Client(streamable_http_client(wanted.url, http_client=http)) as client:

        async def once() -> tuple[bool, str]:
            result = await client.call_tool(wanted.tool, wanted.arguments, read_timeout_seconds=PATIENCE_S)
            return not result.is_error, result.content[0].text

        await persist(once, wanted.tries)


asyncio.run(main())
