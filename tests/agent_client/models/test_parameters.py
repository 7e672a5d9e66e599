"""Every parameter of both adapters reaches the request, or the bound it names."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from agent_client.inference import ModelTrouble
from agent_client.models import ModelBounds, anthropic_messages, openai_chat
from agent_client.models.exchange import Provider
from tests.agent_client.models.conversation import KEY, REQUEST
from tests.agent_client.wire_server import answer, serving

Maker = Callable[..., Any]

makers = pytest.mark.parametrize(
    ("make", "path"),
    [(openai_chat, "/chat/completions"), (anthropic_messages, "/messages")],
    ids=["openai", "anthropic"],
)


async def test_the_times_of_an_inference_are_the_bounds() -> None:
    """`connect_s` for a connection, `answer_s` for the rest; the request's own time where that is less."""
    times: list[dict[str, float]] = []

    async def note(request: httpx.Request) -> None:
        times.append(request.extensions["timeout"])

    with serving(answer({"a": 1})) as server:
        asked = Provider(server.url, {}, ModelBounds(connect_s=20, answer_s=70))
        asked._open().event_hooks = {"request": [note]}
        for timeout_s in (None, 300.0, 15.0):
            await asked.post("/x", {}, timeout_s=timeout_s)
        await asked.aclose()

    assert [(each["connect"], each["read"]) for each in times] == [(20, 70), (20, 70), (15, 15)]


@makers
async def test_a_model_is_asked_where_and_as_it_was_said(make: Maker, path: str) -> None:
    """Through the proxy that was given, at `base_url`, under the provider's name, with the options and the key."""
    with serving(answer({}, status=400)) as server:
        options = {"temperature": 0.25, "model": "not this one"}
        model = make("m-7", key=KEY, base_url="http://provider.invalid/v9", options=options, proxy=server.url)
        with pytest.raises(ModelTrouble):
            await model(REQUEST)
        await model.aclose()

    [seen] = server.seen
    assert seen.path == f"http://provider.invalid/v9{path}"
    assert (seen.json["model"], seen.json["temperature"]) == ("m-7", 0.25)
    assert KEY in (seen.headers.get("x-api-key"), seen.headers.get("authorization", "").removeprefix("Bearer "))


@makers
async def test_no_more_of_an_answer_is_read_than_that(make: Maker, path: str) -> None:
    """`bounds` are those of the exchange."""
    with serving(answer(b"x" * 101)) as server:
        model = make("m", key=KEY, base_url=server.url, bounds=ModelBounds(answer_bytes=100))
        with pytest.raises(ModelTrouble, match="larger"):
            await model(REQUEST)
        await model.aclose()

    assert server.seen[0].path == path


@makers
async def test_the_time_of_a_request_is_that_of_its_exchange(make: Maker, path: str) -> None:
    """What the loop will wait, where the bounds have more."""
    times: list[float] = []

    async def note(request: httpx.Request) -> None:
        times.append(request.extensions["timeout"]["read"])

    with serving(answer({}, status=400)) as server:
        model = make("m", key=KEY, base_url=server.url)
        model._provider._open().event_hooks = {"request": [note]}
        with pytest.raises(ModelTrouble):
            await model(replace(REQUEST, timeout_s=33.0))
        await model.aclose()

    assert (times, server.seen[0].path) == ([33.0], path)


@makers
def test_without_an_address_it_is_the_providers_own(make: Maker, path: str) -> None:
    """What a newcomer leaves out."""
    assert repr(make("m", key=KEY)).endswith(
        " at https://api.openai.com/v1>" if "chat" in path else "anthropic.com/v1>"
    )
