"""Messages, member by member, against a server that speaks them."""

from typing import Any

import pytest

from agent_client.inference import Message, ModelReply, ModelRequest, ModelTrouble, Role, ToolRequest, Usage
from agent_client.models import ModelBounds, anthropic_messages
from agent_client.models.anthropic_messages import read_reply, turns
from agent_client.ports import Model
from tests.agent_client.models.conversation import KEY, REQUEST
from tests.agent_client.wire_server import Hang, answer, serving

ANSWER: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m-1",
    "content": [
        {"type": "thinking", "thinking": "…"},
        {"type": "text", "text": "I look "},
        {"type": "text", "text": "it up."},
        {"type": "tool_use", "id": "toolu_1", "name": "lookup_order", "input": {"order_id": "8472 ₹"}},
    ],
    "stop_reason": "tool_use",
    "usage": {
        "input_tokens": 1000,
        "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": 10,
        "output_tokens": 160,
    },
}


async def test_a_conversation_is_asked_as_the_endpoint_takes_it() -> None:
    """Turns alternate, results stand in the user's, arguments are objects; key and version in their headers."""
    with serving(answer(ANSWER)) as server:
        model = anthropic_messages("m-1", key=KEY, base_url=server.url, version="v", options={"temperature": 0})
        door: Model = model
        reply = await door(REQUEST)
        await model.aclose()

    [seen] = server.seen
    assert seen.path == "/messages"
    assert (seen.headers["x-api-key"], seen.headers["anthropic-version"]) == (KEY, "v")
    body = seen.json
    assert (body["model"], body["max_tokens"], body["system"], body["temperature"]) == ("m-1", 500, "You refund.", 0)
    assert body["tools"] == [{"name": "lookup_order", "description": "Look up.", "input_schema": {"type": "object"}}]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Order 8472 was charged twice ₹"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "lookup_order", "input": {"order_id": "8472"}},
                {"type": "tool_use", "id": "c2", "name": "issue_refund", "input": {"not_an_object": '{"amount": '}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "two charges"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "(nothing)"},
                {"type": "text", "text": "Go on."},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "(nothing)"}]},
        {"role": "user", "content": [{"type": "text", "text": "Well?"}]},
    ]
    call = ToolRequest(id="toolu_1", name="lookup_order", arguments='{"order_id": "8472 ₹"}')
    assert reply == ModelReply(
        text="I look it up.", tool_calls=(call,), usage=Usage(input_tokens=1100, output_tokens=160), raw=ANSWER
    )


async def test_no_tools_is_no_member() -> None:
    """An empty list is refused by the endpoint."""
    with serving(answer(ANSWER)) as server:
        model = anthropic_messages("m", key=KEY, base_url=server.url)
        await model(ModelRequest(system="s", messages=(Message(role=Role.USER, text="u"),), tools=(), max_tokens=7))
        await model.aclose()

    assert "tools" not in server.seen[0].json
    assert server.seen[0].headers["anthropic-version"] == "2023-06-01"


async def test_its_time_is_the_requests() -> None:
    """`bounds` reach the exchange."""
    with serving(Hang()) as server:
        model = anthropic_messages("m", key=KEY, base_url=server.url, bounds=ModelBounds(answer_s=1))
        with pytest.raises(ModelTrouble, match="in time"):
            await model(REQUEST)
        await model.aclose()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [("", {}), ("{}", {}), ("[1]", {"not_an_object": "[1]"}), ("[" * 9999, {"not_an_object": "[" * 9999})],
)
def test_arguments_that_are_no_object_are_quoted(arguments: str, shown: Any) -> None:
    """The endpoint takes objects only; the model sees what it wrote."""
    call = ToolRequest(id="c", name="n", arguments=arguments)
    [turn] = turns([Message(role=Role.ASSISTANT, tool_calls=(call,))])

    assert turn["content"][0]["input"] == shown


@pytest.mark.parametrize(
    ("reason", "cut"), [("max_tokens", True), ("model_context_window_exceeded", True), ("end_turn", False)]
)
def test_a_cut_reply_says_so(reason: str, cut: bool) -> None:  # noqa: FBT001
    """The last call of a cut reply may be half of one."""
    assert read_reply({"content": [], "stop_reason": reason}).truncated is cut


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"content": None},
        {"content": [{}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 5}]},
        {"content": [{"type": "tool_use", "id": 5, "name": "n", "input": {}}]},
        {"content": [{"type": "tool_use", "id": "a", "name": "n"}]},
        {"content": [], "usage": {"input_tokens": "many"}},
    ],
)
def test_anything_else_is_trouble_that_may_pass(broken: Any) -> None:
    """Never a traceback, and never half a reply."""
    with pytest.raises(ModelTrouble, match="no message") as raised:
        read_reply(broken)

    assert raised.value.retryable


def test_no_key_in_a_repr() -> None:
    """Where a model is named, its name and address are enough."""
    assert repr(anthropic_messages("m", key=KEY)) == "<AnthropicMessages m at https://api.anthropic.com/v1>"
