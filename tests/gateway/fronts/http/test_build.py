"""The front put together: methods, and routes against their document."""

import pytest

from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import Served


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/v1/tools/issue_refund/calls", "POST"),
        ("PUT", "/v1/tools/issue_refund/calls", "POST"),
        ("DELETE", "/v1/tools", "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
        ("PATCH", "/v1/operations/01JOP", "GET, HEAD"),
        ("OPTIONS", "/v1/operations/01JOP/settle", "POST"),
    ],
)
async def test_another_method_is_told_which_ones_there_are(served: Served, method: str, path: str, allow: str) -> None:
    """405 is an envelope with an Allow header."""
    answer = await served.client.request(method, path)

    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert sorted(answer.headers["allow"].split(", ")) == sorted(allow.split(", "))
    assert answer.json()["error"]["details"]["allow"] == sorted(allow.split(", "))


async def test_head_is_get_without_its_body(served: Served) -> None:
    """HEAD answers with the headers alone."""
    answer = await served.client.head("/v1/tools")

    assert (answer.status_code, answer.content) == (200, b"")


async def test_the_limits_of_the_settings_hold(served: Served) -> None:
    """The default body limit is 1 MiB, on settlements as on calls."""
    head = f"POST /v1/operations/01JOP/settle HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\n"
    status, _, body = await served.raw(
        head.encode() + b"Content-Type: application/json\r\nContent-Length: 1048577\r\n\r\n"
    )

    assert (status, body["error"]["code"]) == (413, "body_too_large")
