"""Chat completions, member by member, against a server that speaks them."""

from typing import Any

import pytest

from agent_client.inference import ModelReply, ModelRequest, ModelTrouble, ToolRequest, Usage
from agent_client.models import ModelBounds, openai_chat
from agent_client.models.openai_chat import read_reply
from agent_client.ports import Model
from tests.agent_client.models.conversation import KEY, REQUEST
from tests.agent_client.wire_server import Hang, answer, serving

ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "m-1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "issue_refund", "arguments": '{"amount": '},
                    }
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 1100, "completion_tokens": 160, "total_tokens": 1260},
}


async def test_a_conversation_is_asked_as_the_endpoint_takes_it() -> None:
    """Every message, call, result and tool in its place; the key in its header."""
    with serving(answer(ANSWER)) as server:
        model = openai_chat("m-1", key=KEY, base_url=server.url, options={"temperature": 0})
        door: Model = model
        reply = await door(REQUEST)
        await model.aclose()

    [seen] = server.seen
    assert seen.path == "/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    body = seen.json
    assert (body["model"], body["max_completion_tokens"], body["temperature"]) == ("m-1", 500, 0)
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "lookup_order", "description": "Look up.", "parameters": {"type": "object"}},
        }
    ]
    function = {"name": "lookup_order", "arguments": '{"order_id": "8472"}'}
    broken = {"name": "issue_refund", "arguments": '{"amount": '}
    assert body["messages"] == [
        {"role": "system", "content": "You refund."},
        {"role": "user", "content": "Order 8472 was charged twice ₹"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": function},
                {"id": "c2", "type": "function", "function": broken},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "two charges"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "Well?"},
    ]
    call = ToolRequest(id="call_1", name="issue_refund", arguments='{"amount": ')
    assert reply == ModelReply(
        tool_calls=(call,), usage=Usage(input_tokens=1100, output_tokens=160), raw=ANSWER, truncated=False
    )


async def test_an_older_server_without_key_or_tools() -> None:
    """`max_tokens`, no Authorization, and no empty list of tools, which some refuse."""
    with serving(answer(ANSWER)) as server:
        model = openai_chat("m", base_url=server.url, max_tokens_field="max_tokens")
        await model(ModelRequest(system="s", messages=(), tools=(), max_tokens=7))
        await model.aclose()

    assert server.seen[0].json == {"model": "m", "messages": [{"role": "system", "content": "s"}], "max_tokens": 7}
    assert "authorization" not in server.seen[0].headers


async def test_its_time_is_the_requests() -> None:
    """`timeout_s` of the request, and `bounds`, reach the exchange."""
    with serving(Hang()) as server:
        model = openai_chat("m", base_url=server.url, bounds=ModelBounds(answer_s=1))
        with pytest.raises(ModelTrouble, match="in time"):
            await model(REQUEST)
        await model.aclose()


def test_text_and_a_cut_reply() -> None:
    """Text is text, a refusal too; `length` is a reply that was cut; missing usage is none."""
    said = read_reply({"choices": [{"message": {"content": "done"}, "finish_reason": "length"}]})
    refused = read_reply({"choices": [{"message": {"content": None, "refusal": "no"}}], "usage": None})

    assert (said.text, said.truncated, said.usage) == ("done", True, Usage())
    assert (refused.text, refused.truncated) == ("no", False)


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 5}}]},
        {"choices": [{"message": {"content": {"a": 1}}}]},
        {"choices": [3]},
        {"choices": [{"message": {"tool_calls": [{"id": "a"}]}}]},
        {"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": 5}}]}}]},
        {"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": "n", "arguments": {}}}]}}]},
        {"choices": [{"message": {"tool_calls": [{"id": None, "function": {"name": "n"}}]}}]},
        {"choices": [{"message": {}}], "usage": {"prompt_tokens": "many"}},
    ],
)
def test_anything_else_is_trouble_that_may_pass(broken: Any) -> None:
    """Never a traceback, and never half a reply."""
    with pytest.raises(ModelTrouble, match="no chat completion") as raised:
        read_reply(broken)

    assert raised.value.retryable


def test_no_key_in_a_repr() -> None:
    """Where a model is named, its name and address are enough."""
    assert repr(openai_chat("m", key=KEY)) == "<OpenAIChat m at https://api.openai.com/v1>"
