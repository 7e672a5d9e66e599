"""langchain-mcp-adapters: a session of its own for each call."""

import asyncio
import datetime as dt

from langchain_mcp_adapters.client import MultiServerMCPClient  # type: ignore[import-not-found]  # of its own environment

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """The tool as LangChain has it, as many calls as the agent makes."""
    wanted = asked()
    connection = {
        "transport": "streamable_http",
        "url": wanted.url,
        "headers": wanted.headers,
        "session_kwargs": {"read_timeout_seconds": dt.timedelta(seconds=PATIENCE_S)},
    }
    tools = await MultiServerMCPClient({"payments": connection}).get_tools()
    tool = next(each for each in tools if each.name == wanted.tool)

    async def once() -> tuple[bool, str]:
        call = {"type": "tool_call", "id": "1", "name": wanted.tool, "args": wanted.arguments}
        message = await tool.ainvoke(call)
        parts = message.content
        told = parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)
        return message.status == "success", told

    await persist(once, wanted.tries)


asyncio.run(main())
