"""LangGraph: a tool node that the graph repeats by its retry policy."""

import asyncio
import datetime as dt

from langchain_core.messages import AIMessage  # type: ignore[import-not-found]  # of this client's own environment
from langchain_mcp_adapters.client import MultiServerMCPClient  # type: ignore[import-not-found]  # as above
from langgraph.graph import END, START, MessagesState, StateGraph  # type: ignore[import-not-found]  # as above
from langgraph.prebuilt import ToolNode  # type: ignore[import-not-found]  # as above
from langgraph.types import RetryPolicy  # type: ignore[import-not-found]  # as above

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One graph, as many runs as it takes."""
    wanted = asked()
    connection = {
        "transport": "streamable_http",
        "url": wanted.url,
        "headers": wanted.headers,
        "session_kwargs": {"read_timeout_seconds": dt.timedelta(seconds=PATIENCE_S)},
    }
    tools = await MultiServerMCPClient({"payments": connection}).get_tools()
    graph = StateGraph(MessagesState)
    policy = RetryPolicy(max_attempts=3, initial_interval=0.05)
    graph.add_node("tools", ToolNode(tools), retry_policy=policy)
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    runs = graph.compile()

    async def once() -> tuple[bool, str]:
        call = {"type": "tool_call", "id": "1", "name": wanted.tool, "args": wanted.arguments}
        end = await runs.ainvoke({"messages": [AIMessage(content="", tool_calls=[call])]})
        message = end["messages"][-1]
        parts = message.content
        told = parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)
        return message.status == "success", told

    await persist(once, wanted.tries)


asyncio.run(main())
