"""Pydantic AI with the tools of a gateway, over MCP.

    pip install 'pydantic-ai-slim[mcp,openai]'
    export ONCEGATE_URL=http://127.0.0.1:8080 ONCEGATE_KEY=og_… OPENAI_API_KEY=sk-…
    python examples/refund_pydantic_ai.py

A call made again is the same operation, so nothing here has to remember what was already done.
"""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models import Model

GOAL = "Order ORD-8472 was charged twice. Refund 80000 paise of the later payment, and tell me the refund's number."


async def main(model: str | Model) -> str:
    """One run of the agent; its last words."""
    tools = MCPToolset(
        f"{os.environ['ONCEGATE_URL']}/mcp",
        # One run id for all calls of a task: they are recorded, and their costs counted, under it.
        headers={"Authorization": f"Bearer {os.environ['ONCEGATE_KEY']}", "Oncegate-Run-Id": "complaint-8472"},
        read_timeout=60,
        # What the gateway says of a failure is an answer for the model: most are not mended by trying again.
        tool_error_behavior="failed",
    )
    agent = Agent(model, toolsets=[tools])
    async with agent:
        return (await agent.run(GOAL)).output


if __name__ == "__main__":
    print(asyncio.run(main(os.environ.get("MODEL", "openai:gpt-5-mini"))))
