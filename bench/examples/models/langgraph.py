"""The example of LangGraph with a chat model that is a script."""

import asyncio
from typing import Any

import refund_langgraph as example  # type: ignore[import-not-found]  # found in examples/, in its own environment
from langchain_core.language_models import BaseChatModel  # type: ignore[import-not-found]  # of its own environment
from langchain_core.messages import AIMessage, ToolMessage  # type: ignore[import-not-found]  # as above
from langchain_core.outputs import ChatGeneration, ChatResult  # type: ignore[import-not-found]  # as above

from bench.examples.script import Asks, next_move


class Scripted(BaseChatModel):  # type: ignore[misc]  # as above
    """Knows no more than what it is shown."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> "Scripted":
        """It knows the tools already."""
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> Any:
        move = next_move([str(message.content) for message in messages if isinstance(message, ToolMessage)])
        if isinstance(move, Asks):
            call = {"type": "tool_call", "id": move.id, "name": move.tool, "args": move.arguments}
            said = AIMessage(content="", tool_calls=[call])
        else:
            said = AIMessage(content=move.text)
        return ChatResult(generations=[ChatGeneration(message=said)])


print(asyncio.run(example.main(Scripted())))
