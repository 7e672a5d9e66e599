"""openai-agents, with the two repetitions of a call that it can be told to make by itself."""

import asyncio

from agents.mcp import MCPServerStreamableHttp  # type: ignore[import-not-found]  # of this client's own environment

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One server object, as many calls as the agent makes."""
    wanted = asked()
    server = MCPServerStreamableHttp(
        params={"url": wanted.url, "headers": wanted.headers, "timeout": 10},
        client_session_timeout_seconds=PATIENCE_S,
        max_retry_attempts=2,
        retry_backoff_seconds_base=0.05,
    )
    async with server:

        async def once() -> tuple[bool, str]:
            result = await server.call_tool(wanted.tool, wanted.arguments)
            failed = getattr(result, "is_error", None) or getattr(result, "isError", None)
            return not failed, result.content[0].text

        await persist(once, wanted.tries)


asyncio.run(main())
