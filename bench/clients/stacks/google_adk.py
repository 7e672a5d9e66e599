"""google-adk: the toolset's tool, called as its agents call it."""

import asyncio
import json

from google.adk.agents import InvocationContext, LlmAgent  # type: ignore[import-untyped]  # of its own environment
from google.adk.sessions import InMemorySessionService  # type: ignore[import-untyped]  # as above
from google.adk.tools import ToolContext  # type: ignore[import-untyped]  # as above
from google.adk.tools.mcp_tool import McpToolset  # type: ignore[import-untyped]  # as above
from google.adk.tools.mcp_tool.mcp_session_manager import (  # type: ignore[import-untyped]  # as above
    StreamableHTTPConnectionParams,
)

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One toolset, as many calls as the agent makes."""
    wanted = asked()
    # The first is for the session; the second for each answer.
    connection = StreamableHTTPConnectionParams(
        url=wanted.url, headers=wanted.headers, timeout=10, sse_read_timeout=PATIENCE_S
    )
    toolset = McpToolset(connection_params=connection)
    tool = next(each for each in await toolset.get_tools() if each.name == wanted.tool)
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="refunds", user_id="u")
    invocation = InvocationContext(
        session_service=sessions, invocation_id="i", agent=LlmAgent(name="refunds"), session=session
    )

    async def once() -> tuple[bool, str]:
        result = await tool.run_async(args=wanted.arguments, tool_context=ToolContext(invocation))
        content = result.get("content")
        if not content:
            return False, json.dumps(result)
        return not (result.get("isError") or result.get("is_error")), content[0]["text"]

    await persist(once, wanted.tries)
    await toolset.close()


asyncio.run(main())
