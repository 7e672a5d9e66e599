"""A LangGraph agent with the tools of a gateway, over MCP.

    pip install langgraph langchain-mcp-adapters langchain-openai
    export ONCEGATE_URL=http://127.0.0.1:8080 ONCEGATE_KEY=og_… OPENAI_API_KEY=sk-…
    python examples/refund_langgraph.py

A call made again is the same operation, so nothing here has to remember what was already done.
"""

import asyncio
import os

from langchain_core.language_models import BaseChatModel
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

GOAL = "Order ORD-8472 was charged twice. Refund 80000 paise of the later payment, and tell me the refund's number."


async def main(model: BaseChatModel) -> str:
    """One run of the graph; its last words."""
    connection = {
        "transport": "streamable_http",
        "url": f"{os.environ['ONCEGATE_URL']}/mcp",
        # One run id for all calls of a task: they are recorded, and their costs counted, under it.
        "headers": {"Authorization": f"Bearer {os.environ['ONCEGATE_KEY']}", "Oncegate-Run-Id": "complaint-8472"},
    }
    tools = await MultiServerMCPClient({"oncegate": connection}).get_tools()
    thinking = model.bind_tools(tools)

    async def think(state: MessagesState) -> dict[str, list[object]]:
        return {"messages": [await thinking.ainvoke(state["messages"])]}

    # A graph that is resumed repeats the node it died in; the gateway answers a repeated call with the first one's result.
    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    end = await graph.compile().ainvoke({"messages": [("user", GOAL)]})
    return str(end["messages"][-1].content)


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    print(asyncio.run(main(ChatOpenAI(model=os.environ.get("MODEL", "gpt-5-mini")))))
