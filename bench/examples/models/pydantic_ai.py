"""The example of Pydantic AI with its `FunctionModel`."""

import asyncio
from typing import Any

import refund_pydantic_ai as example  # type: ignore[import-not-found]  # found in examples/, in its own environment
from pydantic_ai.messages import (  # type: ignore[import-not-found]  # of its own environment
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel  # type: ignore[import-not-found]  # as above

from bench.examples.script import Asks, next_move


def scripted(messages: list[Any], _: Any) -> Any:
    """Knows no more than what it is shown."""
    parts = [part for message in messages for part in message.parts]
    move = next_move([part.model_response_str() for part in parts if isinstance(part, ToolReturnPart)])
    if isinstance(move, Asks):
        return ModelResponse(parts=[ToolCallPart(move.tool, move.arguments, tool_call_id=move.id)])
    return ModelResponse(parts=[TextPart(move.text)])


print(asyncio.run(example.main(FunctionModel(scripted))))
