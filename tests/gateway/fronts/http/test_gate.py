"""Doors of the routes that are not hot."""

import pytest

from tests.gateway.fronts.http.fake_core import OPERATOR_TOKEN
from tests.gateway.fronts.http.served import Served

GUARDED = [
    ("GET", "/v1/tools"),
    ("GET", "/v1/tools/issue_refund"),
    ("GET", "/v1/operations"),
    ("GET", "/v1/operations/01JOP"),
    ("POST", "/v1/operations/01JOP/reconcile"),
    ("POST", "/v1/operations/01JOP/settle"),
    ("GET", "/v1/executions"),
    ("GET", "/v1/signals"),
    ("GET", "/v1/breakers"),
    ("POST", "/v1/tools/issue_refund/calls"),
    ("POST", "/v1/tools/issue_refund/prepare"),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize("credential", ["", "Bearer wrong"])
async def test_every_route_has_its_own_door(served: Served, method: str, path: str, credential: str) -> None:
    """Without a valid key each route is 401, and the core hears nothing."""
    line = f"Authorization: {credential}\r\n" if credential else ""
    status, headers, body = await served.raw(
        f"{method} {path} HTTP/1.1\r\nHost: g\r\n{line}Content-Length: 0\r\n\r\n".encode()
    )

    assert (status, body["error"]["code"]) == (401, "unauthenticated")
    assert "www-authenticate" in headers
    assert served.core.asked == []


async def test_a_permission_is_asked_for_by_name(served: Served) -> None:
    """Breakers are shared by tenants: the refusal names the permission, and its holder gets in."""
    refused = await served.client.get("/v1/breakers")
    allowed = await served.client.get("/v1/breakers", headers={"Authorization": f"Bearer {OPERATOR_TOKEN}"})

    assert (refused.status_code, refused.json()["error"]["details"]) == (403, {"permission": "operator:breakers"})
    assert [entry["scope"] for entry in allowed.json()["data"]["breakers"]] == ["payments"]


async def test_the_fronts_id_stands_where_the_core_knew_none(served: Served) -> None:
    """An envelope of the core keeps its request id, or gets this request's."""
    filled = await served.client.get("/v1/operations/01JOP")
    kept = await served.client.get("/v1/operations")

    assert filled.json()["meta"]["request_id"].startswith("req_")
    assert kept.json()["meta"]["request_id"] == "set-by-core"
