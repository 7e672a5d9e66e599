"""The edge: what no route ever sees, and what no failure escapes from."""

import json
import logging
from dataclasses import dataclass
from typing import Any, cast

import pytest

from gateway.adapters.logs.json_lines import JsonFormatter
from gateway.contract.envelope import parse_envelope
from gateway.contract.requests import StartRefusedError
from gateway.fronts.http.edge import Edge, request_ids
from gateway.stages.monitor.ports import McpFacts, RequestTrace
from tests.gateway.fronts.http.fake_core import TOKEN, FakeCore
from tests.gateway.fronts.http.served import Served, serving

HOSTS = [
    b"",
    b"Host: \r\n",
    b"Host: a\r\nHost: b\r\n",
    b"Host: a/health?x=\r\n",
    b"Host: a b\r\n",
    b"Host: user@a\r\n",
    b"Host: a:b\r\n",
    b"Host: [::1\r\n",
    b"Host: a,b\r\n",
    b"Host: -a\r\n",
]


@pytest.mark.parametrize("lines", HOSTS)
@pytest.mark.parametrize("target", ["/v1/tools", "/healthz", "/v1/tools/issue_refund/calls"])
async def test_a_malformed_host_reaches_no_route(served: Served, lines: bytes, target: str) -> None:
    """Missing, double and malformed Hosts are 400 before anything is routed or authorised."""
    request = b"GET %b HTTP/1.1\r\n%bAuthorization: Bearer %b\r\n\r\n" % (target.encode(), lines, TOKEN.encode())
    status, _, body = await served.raw(request)

    assert (status, body["error"]["code"]) == (400, "invalid_header")
    assert served.core.asked == []


@pytest.mark.parametrize("host", ["gateway", "gateway.example:8080", "127.0.0.1", "[::1]:80", "a-b.c_d"])
async def test_a_wellformed_host_is_let_in(served: Served, host: str) -> None:
    """Names, addresses and ports pass when no list was given."""
    status, _, _ = await served.raw(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    assert status == 200


async def test_a_list_of_hosts_keeps_others_out() -> None:
    """With `allowed_hosts` another name is refused: a page that rebinds its own name reaches nothing."""
    async with serving(allowed_hosts="gateway.example,127.0.0.1") as served:
        listed = await served.raw(b"GET /healthz HTTP/1.1\r\nHost: GATEWAY.example:80\r\n\r\n")
        other = await served.raw(b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n")

    assert listed[0] == 200
    assert (other[0], other[2]["error"]["code"]) == (400, "invalid_header")


async def test_headers_are_bounded_together() -> None:
    """Many small headers count like one large one."""
    async with serving(header_bytes=2048) as served:
        many = b"".join(b"X-%d: aaaaaaaaaaaaaaaa\r\n" % number for number in range(100))
        status, _, body = await served.raw(b"GET /healthz HTTP/1.1\r\nHost: g\r\n" + many + b"\r\n")

    assert (status, body["error"]["code"]) == (400, "invalid_header")
    assert body["error"]["details"] == {"limit_bytes": 2048}


@pytest.mark.parametrize("name", ["Authorization", "Idempotency-Key", "Content-Type", "X-Request-Timeout-Ms"])
async def test_a_header_that_decides_something_comes_once(served: Served, name: str) -> None:
    """Two values for one of our headers could be read differently by someone in between."""
    head = f"POST /v1/tools/t/calls HTTP/1.1\r\nHost: g\r\n{name}: 1\r\n{name}: 1\r\nContent-Length: 0\r\n\r\n"
    status, _, body = await served.raw(head.encode())

    assert (status, body["error"]["code"], body["error"]["details"]) == (400, "invalid_header", {"header": name})


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/",
        "/v1/tools/",
        "/v1//tools",
        "//v1/tools",
        "/v1/./tools",
        "/v1/../v1/tools",
        "/v1/tools/issue_refund/calls/",
        "/v1/tools/a/b/calls",
        "/v1/tools%2Fissue_refund/calls",
        "/v1/tools/issue%5Frefund/calls",
        "/v1/tools/%2e%2e/calls",
        "/V1/tools",
        "/v1/tools.",
        "/v1/approvals/",
        "/mcp/",
        "/console",
        "/docs",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_there_is_one_spelling_of_each_route(served: Served, method: str, path: str) -> None:
    """Other spellings, and routes this version does not have, are 404 in an envelope, never a redirect."""
    request = f"{method} {path} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 0\r\n\r\n"
    status, _, body = await served.raw(request.encode())

    assert (status, parse_envelope(body).ok) == (404, False)
    assert served.core.asked == []


async def test_an_absolute_target_is_its_path(served: Served) -> None:
    """`GET http://evil/healthz` is routed by its path, and the Host header decides nothing."""
    status, _, _ = await served.raw(b"GET http://evil/healthz HTTP/1.1\r\nHost: g\r\n\r\n")

    assert status == 200


async def test_a_failure_in_a_route_is_an_envelope(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """An exception behind a route is `gateway_error` with an id that the log has too, and none of its text."""
    answer = await served.client.get("/v1/operations/broken")

    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "gateway_error")
    assert "planted" not in answer.text
    logged = [record for record in caplog.records if record.name == "oncegate.http"]
    assert [record.__dict__["request_id"] for record in logged] == [answer.json()["meta"]["request_id"]]


async def test_a_failure_where_something_may_have_been_done_claims_nothing(served: Served) -> None:
    """Reconciling may send again: its failure is not told as "nothing was sent"."""
    answer = await served.client.post("/v1/operations/broken/reconcile")

    assert (answer.status_code, answer.json()["error"]["code"]) == (424, "gateway_error_unknown_outcome")


async def test_a_failure_around_a_message_is_told_in_its_protocol() -> None:
    """As JSON-RPC, and not as "nothing was sent": at the edge nobody knows how far what was asked had come."""

    class Failing:
        def request_started(self, *_: object, **__: str | None) -> RequestTrace:
            raise RuntimeError("planted")

    async with serving(requests=Failing()) as served:
        status, _, answer = await served.post("/mcp", b"{}", Host="localhost")

    assert (status, answer["jsonrpc"], answer["error"]["code"]) == (424, "2.0", -32603)
    assert answer["error"]["data"]["error"]["code"] == "gateway_error_unknown_outcome"


async def test_the_application_lives_as_long_as_the_server() -> None:
    """The core is started before the first request and stopped after the last."""
    core = FakeCore()
    async with serving(core):
        during = list(core.life)

    assert during == ["start"]
    assert core.life == ["start", "stop"]


def test_ids_of_two_processes_differ() -> None:
    """A request id is its process's prefix and a number."""
    first, second = request_ids("req_a"), request_ids("req_b")

    assert [next(first), next(first), next(second)] == ["req_a00000001", "req_a00000002", "req_b00000001"]


async def test_telemetry_sees_routes_and_statuses() -> None:
    """Each routed request is one observation: method, template of the route, status; its trace context is the call's."""
    seen: list[tuple[str, str | None, int]] = []

    @dataclass
    class Trace:
        method: str
        route: str | None
        traceparent: str | None = "of-the-span"
        tracestate: str | None = None

        def ended(self, status: int, mcp: McpFacts | None = None) -> None:
            assert mcp is None
            seen.append((self.method, self.route, status))

    class Watching:
        def request_started(self, method: str, route: str | None, **_: str | None) -> Trace:
            return Trace(method, route)

    async with serving(requests=Watching()) as served:
        await served.client.post("/v1/tools/t/calls", json={})
        await served.client.get("/v1/operations/01JXX")
        await served.client.delete("/v1/tools")
        await served.client.get("/nowhere")
        call, _ = served.core.asked[0]

    assert call.traceparent == "of-the-span"
    assert seen == [
        ("POST", "/v1/tools/{tool}/calls", 200),
        ("GET", "/v1/operations/{operation_id}", 404),
        ("DELETE", "/v1/tools", 405),
        ("GET", None, 404),
    ]


async def life(fault: Exception | None, fault_at_the_end: Exception | None = None) -> list[dict[str, Any]]:
    """What a server is told of the life of an application whose start, or whose end, fails."""
    told: list[dict[str, Any]] = []

    async def ends(with_fault: Exception | None) -> None:
        if with_fault is not None:
            raise with_fault

    async def receive() -> Any:
        return {}

    async def send(message: Any) -> None:
        told.append(message)

    nothing = cast("Any", None)
    edge = Edge(
        nothing,
        nothing,
        nothing,
        request_ids("x"),
        template_of=nothing,
        requests=nothing,
        start=lambda: ends(fault),
        stop=lambda: ends(fault_at_the_end),
    )
    await edge({"type": "lifespan"}, receive, send)
    return told


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The messages of the log, as it is printed."""
    return [json.loads(JsonFormatter().format(record))["message"] for record in caplog.records]


async def test_why_a_gateway_does_not_start_is_told_once_and_in_our_own_words(caplog: pytest.LogCaptureFixture) -> None:
    """The server is handed no text that it would log as it stands."""
    told = await life(StartRefusedError("the server drops records when it is full"))

    assert told == [{"type": "lifespan.startup.failed", "message": ""}]
    assert lines(caplog) == ["the gateway does not start: the server drops records when it is full"]


@pytest.mark.parametrize("at_the_end", [False, True])
async def test_the_text_of_an_unexpected_fault_reaches_neither_log_nor_server(
    caplog: pytest.LogCaptureFixture, *, at_the_end: bool
) -> None:
    """It may hold anything; the class and the places in the code are told."""
    caplog.set_level(logging.INFO)
    fault = RuntimeError("planted-4471")
    told = await life(None if at_the_end else fault, fault if at_the_end else None)

    printed = [JsonFormatter().format(record) for record in caplog.records]
    assert "planted-4471" not in repr(told) + repr(printed)
    assert "RuntimeError" in printed[-1]
