"""Pydantic AI: an agent with its one retry, and a model that tries again when it is told to."""

import asyncio
from typing import Any

from pydantic_ai import Agent  # type: ignore[import-not-found]  # of this client's own environment
from pydantic_ai.mcp import MCPToolset  # type: ignore[import-not-found]  # as above
from pydantic_ai.messages import (  # type: ignore[import-not-found]  # as above
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel  # type: ignore[import-not-found]  # as above

from bench.clients.stacks.persistence import PATIENCE_S, asked, persist


async def main() -> None:
    """One agent, as many runs as it takes."""
    wanted = asked()
    tools = MCPToolset(wanted.url, headers=wanted.headers, read_timeout=PATIENCE_S)

    def model(messages: list[Any], _: Any) -> Any:
        parts = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        if parts and parts[-1].outcome != "retried":
            return ModelResponse(parts=[TextPart(parts[-1].model_response_str())])
        return ModelResponse(parts=[ToolCallPart(wanted.tool, wanted.arguments)])

    agent = Agent(FunctionModel(model), toolsets=[tools])

    async def once() -> tuple[bool, str]:
        return True, (await agent.run("refund it")).output

    async with agent:
        await persist(once, wanted.tries)


asyncio.run(main())
