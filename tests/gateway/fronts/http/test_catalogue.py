"""The catalogue over HTTP."""

import pytest

from tests.gateway.fronts.http.fake_core import OPERATOR_TOKEN, REFUND
from tests.gateway.fronts.http.served import Served


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


@pytest.mark.parametrize("asked", ["openai", "anthropic", "mcp", "yaml"])
async def test_another_format_is_refused_in_words(served: Served, asked: str) -> None:
    """A format that is not written is refused, never answered with the native one."""
    answer = await served.client.get("/v1/tools", params={"format": asked})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert answer.json()["error"]["details"] == {"formats": ["native"]}


async def test_the_native_format_may_be_asked_for(served: Served) -> None:
    """`format=native` is the default by name."""
    answer = await served.client.get("/v1/tools", params={"format": "native"})

    assert answer.status_code == 200


async def test_a_misspelt_parameter_is_refused(served: Served) -> None:
    """An unknown parameter is told with the one that was meant."""
    answer = await served.client.get("/v1/tools", params={"fromat": "native"})

    assert answer.status_code == 400
    assert "did you mean format?" in answer.json()["error"]["message"]
