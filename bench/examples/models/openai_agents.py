"""The example of openai-agents with a `Model` that is a script."""

import asyncio
from typing import Any

import refund_openai_agents as example  # type: ignore[import-not-found]  # found in examples/, in its own environment
from agents import Model, ModelResponse, Usage  # type: ignore[import-not-found]  # of its own environment
from openai.types.responses import (  # type: ignore[import-not-found]  # as above
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from bench.examples.script import Asks, next_move


class Scripted(Model):  # type: ignore[misc]  # as above
    """Knows no more than what it is shown."""

    async def get_response(self, *, input: str | list[Any], **_: Any) -> Any:  # noqa: A002 - theirs
        """The next move, as the Responses API writes it."""
        items = [] if isinstance(input, str) else input
        move = next_move([str(item["output"]) for item in items if item.get("type") == "function_call_output"])
        item: Any
        if isinstance(move, Asks):
            item = ResponseFunctionToolCall(
                type="function_call", call_id=move.id, name=move.tool, arguments=move.json, id=move.id
            )
        else:
            text = ResponseOutputText(type="output_text", text=move.text, annotations=[])
            item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """The example runs its agent without a stream: one that asks for it is another example than this script is for."""
        raise AssertionError("the script was asked for a stream, and the example reads none")


print(asyncio.run(example.main(Scripted())))
