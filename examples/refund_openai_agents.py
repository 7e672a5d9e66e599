"""OpenAI's Agents SDK with the tools of a gateway, over MCP.

    pip install openai-agents
    export ONCEGATE_URL=http://127.0.0.1:8080 ONCEGATE_KEY=og_… OPENAI_API_KEY=sk-…
    python examples/refund_openai_agents.py

A call made again is the same operation, so nothing here has to remember what was already done.
"""

import asyncio
import os

from agents import Agent, Model, Runner
from agents.mcp import MCPServerStreamableHttp

GOAL = "Order ORD-8472 was charged twice. Refund 80000 paise of the later payment, and tell me the refund's number."


async def main(model: str | Model) -> str:
    """One run of the agent; its last words."""
    tools = MCPServerStreamableHttp(
        params={
            "url": f"{os.environ['ONCEGATE_URL']}/mcp",
            # One run id for all calls of a task: they are recorded, and their costs counted, under it.
            "headers": {
                "Authorization": f"Bearer {os.environ['ONCEGATE_KEY']}",
                "Oncegate-Run-Id": "complaint-8472",
            },
            "timeout": 60,
        },
        client_session_timeout_seconds=60,
        # A call made again is the same operation: repeating one whose answer was lost does no harm.
        max_retry_attempts=2,
    )
    async with tools:
        agent = Agent(name="refunds", model=model, mcp_servers=[tools])
        result = await Runner.run(agent, GOAL)
    return str(result.final_output)


if __name__ == "__main__":
    print(asyncio.run(main(os.environ.get("MODEL", "gpt-5-mini"))))
