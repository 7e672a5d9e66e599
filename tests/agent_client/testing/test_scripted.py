"""A scripted model says its lines, and tells when they do not fit."""

import pytest

from agent_client.inference import ModelReply, ModelRequest, ModelTrouble, ToolRequest, Usage
from agent_client.ports import Model
from agent_client.testing import ScriptOver, scripted

REQUEST = ModelRequest(system="s", messages=(), tools=(), max_tokens=10)


async def test_lines_are_said_in_order() -> None:
    """A tool with arguments, a raw string, a text, a reply, a function of the request; and it keeps the requests."""
    ready = ModelReply(text="ready")
    model = scripted(
        [("lookup", {"id": 1}), ("lookup", "{bad"), "thinking", ready, lambda asked: ModelReply(text=asked.system)],
        input_tokens=7,
        output_tokens=3,
    )
    door: Model = model
    first, second, third, fourth, fifth = [await door(REQUEST) for _ in range(5)]

    assert first.tool_calls == (ToolRequest(id="call-1", name="lookup", arguments='{"id": 1}'),)
    assert first.usage == Usage(input_tokens=7, output_tokens=3)
    assert second.tool_calls[0].arguments == "{bad"
    assert (third.text, fourth, fifth.text) == ("thinking", ready, "s")
    assert model.requests == [REQUEST] * 5
    model.finish()


async def test_trouble_is_raised_where_the_script_says_so() -> None:
    """With its wait and its cost, and the next line comes after it."""
    usage = Usage(input_tokens=5)
    model = scripted([ModelTrouble("busy", retryable=True, retry_after_s=2, usage=usage), "ok"])
    with pytest.raises(ModelTrouble, match="busy") as raised:
        await model(REQUEST)

    assert (raised.value.retryable, raised.value.retry_after_s, raised.value.usage) == (True, 2, usage)
    assert (await model(REQUEST)).text == "ok"


async def test_a_script_that_does_not_fit_is_told() -> None:
    """Asked once more than it has lines, or fewer times."""
    model = scripted(["one", "two"])
    await model(REQUEST)
    with pytest.raises(ScriptOver, match="asked 1 times; the script has 2 lines"):
        model.finish()
    await model(REQUEST)
    with pytest.raises(ScriptOver, match="2 lines, and the model was asked once more"):
        await model(REQUEST)

    assert repr(model) == "<Scripted line 3 of 2>"
