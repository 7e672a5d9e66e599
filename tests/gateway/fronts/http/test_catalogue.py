"""The catalogue over HTTP."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.contract.call import Caller
from gateway.contract.requests import ToolSummary
from gateway.fronts.http.formats import anthropic_tool, mcp_tool, openai_tool
from tests.gateway.fronts.http.fake_core import OPERATOR_TOKEN, REFUND, FakeCore
from tests.gateway.fronts.http.served import Served, serving


async def test_a_caller_sees_the_tools_it_may_use(served: Served) -> None:
    """The list holds the caller's tools in the native form, and another caller's list is another one."""
    mine = await served.client.get("/v1/tools")
    others = await served.client.get("/v1/tools", headers={"Authorization": f"Bearer {OPERATOR_TOKEN}"})

    assert mine.json()["data"] == {"tools": [REFUND.to_dict()]}
    assert others.json()["data"] == {"tools": []}


async def test_one_tool_is_shown_by_name(served: Served) -> None:
    """A tool is its catalogue entry; one the caller may not use does not exist."""
    shown = await served.client.get("/v1/tools/issue_refund")
    hidden = await served.client.get("/v1/tools/issue_refund", headers={"Authorization": f"Bearer {OPERATOR_TOKEN}"})

    assert shown.json()["data"] == REFUND.to_dict()
    assert (hidden.status_code, hidden.json()["error"]["code"]) == (404, "unknown_tool")


@pytest.mark.parametrize("path", ["/v1/tools", "/v1/tools/issue_refund"])
async def test_an_unchanged_catalogue_is_not_sent_again(served: Served, path: str) -> None:
    """If-None-Match with the ETag is 304 without a body, whatever the request id was."""
    first = await served.client.get(path)
    again = await served.client.get(path, headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    other = await served.client.get(path, headers={"If-None-Match": '"other"'})

    assert first.headers["vary"] == "authorization"
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert other.status_code == 200


async def test_the_tag_belongs_to_the_caller(served: Served) -> None:
    """Two callers' catalogues differ, and so do their tags."""
    mine = await served.client.get("/v1/tools")
    others = await served.client.get("/v1/tools", headers={"Authorization": f"Bearer {OPERATOR_TOKEN}"})

    assert mine.headers["etag"] != others.headers["etag"]


@pytest.mark.parametrize("path", ["/v1/tools", "/v1/tools/issue_refund"])
async def test_another_format_is_refused_in_words(served: Served, path: str) -> None:
    """A format that is not written is refused, never answered with the native one."""
    answer = await served.client.get(path, params={"format": "yaml"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert answer.json()["error"]["details"] == {"formats": ["native", "openai", "anthropic", "mcp"]}


@pytest.mark.parametrize(("asked", "form"), [("openai", openai_tool), ("anthropic", anthropic_tool), ("mcp", mcp_tool)])
async def test_the_catalogue_as_others_write_it(
    served: Served, asked: str, form: Callable[[ToolSummary], dict[str, Any]]
) -> None:
    """The list, and one tool, as the provider's own API takes them."""
    every = await served.client.get("/v1/tools", params={"format": asked})
    one = await served.client.get("/v1/tools/issue_refund", params={"format": asked})

    assert every.json()["data"] == {"tools": [form(REFUND)]}
    assert one.json()["data"] == form(REFUND)
    assert every.json()["meta"]["warnings"] == []


@pytest.mark.parametrize(("asked", "names"), [("openai", []), ("anthropic", []), ("mcp", ["a.b"]), ("native", ["a.b"])])
async def test_a_name_that_a_provider_refuses_is_left_out_aloud(asked: str, names: list[str]) -> None:
    """One such tool would make the provider refuse the whole request."""

    class Dotted(FakeCore):
        async def catalogue(self, caller: Caller) -> tuple[ToolSummary, ...]:
            del caller
            return (replace(REFUND, name="a.b"),)

    async with serving(Dotted()) as served:
        answer = (await served.client.get("/v1/tools", params={"format": asked})).json()

    assert [tool["name"] for tool in answer["data"]["tools"]] == names
    assert ["a.b" in warning for warning in answer["meta"]["warnings"]] == [True] * (not names)


async def test_the_native_form_shows_no_value_of_a_sensitive_argument() -> None:
    """Defaults of sensitive arguments stay in the manifest."""
    schema = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True, "default": "1234"}}}

    class Sensitive(FakeCore):
        async def catalogue(self, caller: Caller) -> tuple[ToolSummary, ...]:
            del caller
            return (replace(REFUND, arguments=schema),)

    async with serving(Sensitive()) as served:
        answer = await served.client.get("/v1/tools")

    assert "1234" not in answer.text
    assert answer.json()["data"]["tools"][0]["arguments"]["properties"]["pin"]["x-sensitive"] is True


async def test_the_native_format_may_be_asked_for(served: Served) -> None:
    """`format=native` is the default by name."""
    answer = await served.client.get("/v1/tools", params={"format": "native"})

    assert answer.status_code == 200


async def test_a_misspelt_parameter_is_refused(served: Served) -> None:
    """An unknown parameter is told with the one that was meant."""
    answer = await served.client.get("/v1/tools", params={"fromat": "native"})

    assert answer.status_code == 400
    assert "did you mean format?" in answer.json()["error"]["message"]
