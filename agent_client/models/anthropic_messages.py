"""Models behind the Anthropic messages endpoint."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent_client.inference import Message, ModelReply, ModelRequest, ModelTrouble, Role, ToolRequest, Usage
from agent_client.models.exchange import ModelBounds, Provider

_ANTHROPIC: Final = "https://api.anthropic.com/v1"
_VERSION: Final = "2023-06-01"
_BOUNDS: Final = ModelBounds()
# An empty block is refused, and a turn must have one.
_NOTHING: Final = "(nothing)"


class AnthropicMessages:
    """A model; `anthropic_messages` makes one."""

    def __init__(self, provider: Provider, model: str, options: Mapping[str, Any]) -> None:
        self._provider = provider
        self._model = model
        self._options = dict(options)

    def __repr__(self) -> str:
        return f"<AnthropicMessages {self._model} at {self._provider.base_url}>"

    async def __call__(self, request: ModelRequest) -> ModelReply:
        """One inference. Raises `ModelTrouble`."""
        body: dict[str, Any] = {
            **self._options,
            "model": self._model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": turns(request.messages),
        }
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
                for tool in request.tools
            ]
        return read_reply(await self._provider.post("/messages", body, timeout_s=request.timeout_s))

    async def aclose(self) -> None:
        """Close the connections that are open."""
        await self._provider.aclose()


def anthropic_messages(
    model: str,
    *,
    key: str,
    base_url: str = _ANTHROPIC,
    version: str = _VERSION,
    options: Mapping[str, Any] | None = None,
    bounds: ModelBounds = _BOUNDS,
    proxy: str | None = None,
) -> AnthropicMessages:
    """A model behind `POST {base_url}/messages`.

    Args:
        model: the provider's name for it.
        key: sent as `x-api-key`. In no repr, message or log line.
        version: `anthropic-version`.
        options: further members of the request, such as `temperature`.
        proxy: as httpx takes it. The environment's settings are not read.

    Raises:
        ValueError: a url or key that cannot be one.
    """
    provider = Provider(base_url, {"x-api-key": key, "anthropic-version": version}, bounds, proxy=proxy)
    return AnthropicMessages(provider, model, options or {})


def read_reply(answer: Any) -> ModelReply:
    """The reply in a message.

    Raises:
        ModelTrouble: it is something else. It may be a fault that passes, so it may be asked again.
    """
    try:
        used = answer.get("usage") or {}
        read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        usage = Usage(
            input_tokens=sum(int(used.get(name) or 0) for name in read),
            output_tokens=int(used.get("output_tokens") or 0),
        )
        blocks = answer["content"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = tuple(_call(block) for block in blocks if block["type"] == "tool_use")
        truncated = answer.get("stop_reason") in {"max_tokens", "model_context_window_exceeded"}
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ModelTrouble("the model's provider sent something that is no message", retryable=True) from None
    return ModelReply(text=text, tool_calls=calls, usage=usage, raw=answer, truncated=truncated)


def turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation as the endpoint takes it: user and assistant by turns, results of tools in the user's."""
    said: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        blocks = _blocks(message)
        if said and said[-1]["role"] == role:
            said[-1]["content"].extend(blocks)
        else:
            said.append({"role": role, "content": blocks})
    return said


def _call(block: Mapping[str, Any]) -> ToolRequest:
    if not isinstance(block["id"], str) or not isinstance(block["name"], str):
        raise TypeError("a call has a name and an id")
    # This endpoint parses arguments itself; the loop takes a string, and checks it as any other.
    return ToolRequest(id=block["id"], name=block["name"], arguments=json.dumps(block["input"], ensure_ascii=False))


def _blocks(message: Message) -> list[dict[str, Any]]:
    match message.role:
        case Role.TOOL:
            return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.text or _NOTHING}]
        case Role.USER | Role.ASSISTANT:
            text = [{"type": "text", "text": message.text}] if message.text.strip() else []
            calls = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}
                for call in message.tool_calls
            ]
            return [*text, *calls] or [{"type": "text", "text": _NOTHING}]


def _input(arguments: str) -> Any:
    """What was called with, as an object. What was not one is quoted, so that the model sees what it wrote."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"not_an_object": arguments}
