"""Models behind an OpenAI-compatible chat completions endpoint: OpenAI, and most servers and gateways of others."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent_client.inference import Message, ModelReply, ModelRequest, ModelTrouble, Role, ToolRequest, Usage
from agent_client.models.exchange import ModelBounds, Provider

_OPENAI: Final = "https://api.openai.com/v1"
_BOUNDS: Final = ModelBounds()


class OpenAIChat:
    """A model; `openai_chat` makes one."""

    def __init__(self, provider: Provider, model: str, limit: str, options: Mapping[str, Any]) -> None:
        self._provider = provider
        self._model = model
        self._limit = limit
        self._options = dict(options)

    def __repr__(self) -> str:
        return f"<OpenAIChat {self._model} at {self._provider.base_url}>"

    async def __call__(self, request: ModelRequest) -> ModelReply:
        """One inference. Raises `ModelTrouble`."""
        body: dict[str, Any] = {
            **self._options,
            "model": self._model,
            "messages": [{"role": "system", "content": request.system}, *map(_message, request.messages)],
            self._limit: request.max_tokens,
        }
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.parameters),
                    },
                }
                for tool in request.tools
            ]
        answer = await self._provider.post("/chat/completions", body, timeout_s=request.timeout_s)
        return read_reply(answer)

    async def aclose(self) -> None:
        """Close the connections that are open."""
        await self._provider.aclose()


def openai_chat(
    model: str,
    *,
    key: str | None = None,
    base_url: str = _OPENAI,
    max_tokens_field: str = "max_completion_tokens",
    options: Mapping[str, Any] | None = None,
    bounds: ModelBounds = _BOUNDS,
    proxy: str | None = None,
) -> OpenAIChat:
    """A model behind `POST {base_url}/chat/completions`.

    Args:
        model: the provider's name for it.
        key: sent as a bearer token; None for a server that asks for none. In no repr, message or log line.
        max_tokens_field: older servers call it `max_tokens`.
        options: further members of the request, such as `temperature`.
        proxy: as httpx takes it. The environment's settings are not read.

    Raises:
        ValueError: a url or key that cannot be one.
    """
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    provider = Provider(base_url, headers, bounds, proxy=proxy)
    return OpenAIChat(provider, model, max_tokens_field, options or {})


def read_reply(answer: Any) -> ModelReply:
    """The reply in a chat completion.

    Raises:
        ModelTrouble: it is something else. It may be a fault that passes, so it may be asked again.
    """
    try:
        usage = _usage(answer.get("usage") or {})
        choice = answer["choices"][0]
        message = choice["message"]
        text = "".join((message.get("content") or message.get("refusal") or "",))
        calls = tuple(_calls(message.get("tool_calls") or ()))
        truncated = choice.get("finish_reason") == "length"
    except (KeyError, IndexError, TypeError, AttributeError, ValueError):
        raise ModelTrouble("the model's provider sent something that is no chat completion", retryable=True) from None
    return ModelReply(text=text, tool_calls=calls, usage=usage, raw=answer, truncated=truncated)


def _calls(calls: Any) -> Iterator[ToolRequest]:
    for call in calls:
        function = call["function"]
        name, arguments = function["name"], function.get("arguments")
        arguments = "" if arguments is None else arguments
        if not isinstance(name, str) or not isinstance(call["id"], str) or not isinstance(arguments, str):
            raise TypeError("a call has a name, an id and a string of arguments")
        yield ToolRequest(id=call["id"], name=name, arguments=arguments)


def _usage(usage: Any) -> Usage:
    return Usage(
        input_tokens=int(usage.get("prompt_tokens") or 0), output_tokens=int(usage.get("completion_tokens") or 0)
    )


def _message(message: Message) -> dict[str, Any]:
    match message.role:
        case Role.USER:
            return {"role": "user", "content": message.text}
        case Role.TOOL:
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
        case Role.ASSISTANT:
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in message.tool_calls
            ]
            # Without calls a turn needs a content, be it empty; beside calls an empty one is refused by some.
            said = {"role": "assistant", "content": message.text or (None if calls else "")}
            return {**said, "tool_calls": calls} if calls else said
