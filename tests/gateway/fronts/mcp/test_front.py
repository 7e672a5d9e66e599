import pytest

from tests.gateway.fronts.http.served import Served, serving
from tests.gateway.fronts.mcp.asking import message, send


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"])
async def test_there_is_nothing_but_post(served: Served, method: str) -> None:
    """No stream to open and no session to end."""
    answer = await served.client.request(method, "/mcp")

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_the_allow_lists_of_the_settings_hold() -> None:
    """A listed origin passes, another is 403, another host is 400 from the head on."""
    async with serving(allowed_origins=["https://app.example.com"], allowed_hosts=["gate.example.com"]) as served:
        listed = await served.post("/mcp", b"{}", Host="gate.example.com", Origin="https://app.example.com")
        other = await served.post("/mcp", b"{}", Host="gate.example.com", Origin="https://evil.example")
        elsewhere = await served.post("/mcp", b"{}", Host="localhost")

    # `{}` is no message, and getting that far is what is tested.
    assert (listed[0], listed[2]["error"]["code"]) == (400, -32600)
    assert (other[0], other[2]["jsonrpc"]) == (403, "2.0")
    assert (elsewhere[0], elsewhere[2]["jsonrpc"]) == (400, "2.0")


async def test_a_gateway_for_this_machine_is_not_reached_by_another_name(served: Served) -> None:
    """Without a list of hosts, on a loopback address."""
    status, _, body = await served.post("/mcp", b"{}", Host="evil.example")

    assert (status, "allowed_hosts" in body["error"]["message"]) == (421, True)


async def test_on_every_address_any_name_goes() -> None:
    """A container listens everywhere, and who reaches it is a matter of its network."""
    async with serving(host="0.0.0.0") as served:
        status, _, _ = await served.post("/mcp", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', Host="gate.example.com")

    assert status == 200


async def test_the_limits_of_the_settings_hold() -> None:
    """`request_bytes` bounds a message as it bounds a call."""
    async with serving(request_bytes=1024) as served:
        status, _, body = await send(served, message("ping", {"x": "a" * 2000}))

    assert (status, body["error"]["data"]["error"]["code"]) == (413, "body_too_large")


async def test_a_message_that_does_not_come_is_not_waited_for() -> None:
    """`body_timeout_s` bounds its arrival, as it bounds that of a call."""
    async with serving(body_timeout_s=0.05) as served:
        status, _, body = await served.post("/mcp", b"{", Host="localhost", Content_Length="10")

    assert (status, "0.05 s" in body["error"]["message"]) == (400, True)


PAGE = "https://app.example.com"


async def test_the_browser_of_a_listed_page_may_send_and_read() -> None:
    """It asks first, with the headers that the protocol has; then the answer, a refusal too, may be shown to the page."""
    async with serving(allowed_origins=[PAGE]) as served:
        ask = {"Origin": PAGE, "Access-Control-Request-Method": "POST", "Authorization": ""}
        asked = await served.client.options("/mcp", headers=ask)
        answered = await send(served, message("ping"), Origin=PAGE)
        refused = await send(served, message("ping"), Origin=PAGE, Authorization="")

    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, PAGE)
    assert asked.headers["access-control-allow-methods"] == "POST"
    allowed = asked.headers["access-control-allow-headers"].split(", ")
    assert {"authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"} <= set(allowed)
    for (_, headers, _), status in ((answered, 200), (refused, 401)):
        assert (headers["access-control-allow-origin"], headers["vary"]) == (PAGE, "origin"), status


async def test_no_other_page_is_let_in() -> None:
    """Neither the question nor an answer without a page says anything of origins."""
    async with serving(allowed_origins=[PAGE]) as served:
        asked = await served.client.options("/mcp", headers={"Origin": "https://evil.example"})
        _, headers, _ = await send(served, message("ping"))

    assert asked.status_code == 403
    assert "access-control-allow-origin" not in asked.headers
    assert "access-control-allow-origin" not in headers
