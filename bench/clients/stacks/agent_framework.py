"""Microsoft's agent-framework: its MCP tool."""

import asyncio

from agent_framework import MCPStreamableHTTPTool  # type: ignore[import-not-found]  # of this client's own environment

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One tool object, as many calls as the agent makes."""
    wanted = asked()
    tool = MCPStreamableHTTPTool(
        name="payments",
        url=wanted.url,
        static_headers=wanted.headers,
        request_timeout=PATIENCE_S,
        load_prompts=False,
    )
    async with tool:

        async def once() -> tuple[bool, str]:
            contents = await tool.call_tool(wanted.tool, **wanted.arguments)
            return True, contents if isinstance(contents, str) else "".join(each.text or "" for each in contents)

        await persist(once, wanted.tries)


asyncio.run(main())
