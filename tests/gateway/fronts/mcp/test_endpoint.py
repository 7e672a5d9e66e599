"""`POST /mcp`, from bytes on a socket to bytes on a socket."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.contract.call import ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, parse_envelope
from tests.gateway.fronts.http.fake_core import CALLER, OPERATOR_TOKEN, REFUND, FakeCore
from tests.gateway.fronts.http.served import Served, serving
from tests.gateway.fronts.mcp.asking import ask, ask_for_status, message, modern, send

CALL = {"name": "issue_refund", "arguments": {"order_id": "ORD-1"}}
OLD = {"MCP_Protocol_Version": "2025-11-25"}


async def test_a_call_of_2026(served: Served) -> None:
    """One request, no handshake: the arguments reach the core, and its envelope comes back."""
    answer = await ask(served, "tools/call", CALL)

    call, caller = served.core.asked[0]
    assert (call.tool, call.arguments, caller) == ("issue_refund", {"order_id": "ORD-1"}, CALLER)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    assert answer["result"]["resultType"] == "complete"
    envelope = parse_envelope(answer["result"]["structuredContent"])
    assert (envelope.data, envelope.meta.request_id) == ({"echo": {"order_id": "ORD-1"}}, call.request_id)
    assert answer["result"]["isError"] is False


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26"])
async def test_the_life_of_an_older_client(served: Served, version: str) -> None:
    """Handshake, its confirmation, ping, list, call: each on a connection of its own, and no session anywhere."""
    status, headers, hello = await send(served, message("initialize", {"protocolVersion": version}))
    assert (status, hello["result"]["protocolVersion"]) == (200, version)
    assert "mcp-session-id" not in headers
    spoken = {"MCP_Protocol_Version": version, "Mcp_Session_Id": "somebody-elses", "Last_Event_ID": "7"}

    note, _, nothing = await send(served, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **spoken)
    _, _, pong = await send(served, message("ping"), **spoken)
    _, _, tools = await send(served, message("tools/list"), **spoken)
    _, _, done = await send(served, message("tools/call", CALL, rpc_id="c"), **spoken)

    assert (note, nothing) == (202, b"")
    assert pong["result"] == {}
    assert [tool["name"] for tool in tools["result"]["tools"]] == ["issue_refund"]
    assert (done["id"], done["result"]["isError"]) == ("c", False)


async def test_the_ids_of_a_client_name_nothing(served: Served) -> None:
    """Two calls under one id are two calls for the core, which alone knows what is the same operation."""
    await ask(served, "tools/call", CALL)
    await ask(served, "tools/call", CALL)

    first, second = (call for call, _ in served.core.asked)
    assert first.request_id != second.request_id
    assert (first.idempotency_key, second.idempotency_key) == (None, None)


async def test_discovery_and_listing_of_2026(served: Served) -> None:
    """What is spoken, and the caller's tools with their hints."""
    found = (await ask(served, "server/discover"))["result"]
    listed = (await ask(served, "tools/list"))["result"]

    assert "2025-06-18" in found["supportedVersions"]
    assert [tool["name"] for tool in listed["tools"]] == ["issue_refund"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "private")


async def test_a_caller_sees_its_own_tools(served: Served) -> None:
    """Another credential has another catalogue."""
    _, _, listed = await send(served, message("tools/list"), **OLD, Authorization=f"Bearer {OPERATOR_TOKEN}")

    assert listed["result"]["tools"] == []


async def test_a_list_knows_whether_its_client_brings_a_run() -> None:
    """In the header or in `_meta`; a key in `_meta` only."""

    class Needy(FakeCore):
        async def catalogue(self, caller: Any) -> Any:
            del caller
            return (replace(REFUND, name="by_key", needs_key=True), replace(REFUND, name="by_run", needs_run_id=True))

    def names(answer: Any) -> list[str]:
        return [tool["name"] for tool in answer["result"]["tools"]]

    async with serving(Needy()) as served:
        _, _, plain = await send(served, message("tools/list"), **OLD)
        _, _, in_header = await send(served, message("tools/list"), **OLD, Oncegate_Run_Id="run-7")
        in_meta = await ask(served, "tools/list", None, **{"oncegate/run-id": "run-7"})
        with_key = await ask(served, "tools/list", None, **{"oncegate/key": "k"})

    assert [names(each) for each in (plain, in_header, in_meta, with_key)] == [[], ["by_run"], ["by_run"], ["by_key"]]


async def test_what_a_tool_refuses_is_a_result() -> None:
    """A model can mend its call only if it is shown what was wrong; clients hide protocol errors from it."""

    async def refusing(call: ToolCall) -> Envelope:
        return fail(ErrorCode.MISSING_ARGUMENTS, Meta(request_id=call.request_id, tool=call.tool))

    async with serving(FakeCore(on_call=refusing)) as served:
        status, _, answer = await send(served, message("tools/call", CALL), **OLD)

    assert status == 200
    assert answer["result"]["isError"] is True
    assert answer["result"]["structuredContent"]["error"]["code"] == "missing_arguments"


@pytest.mark.parametrize("code", [ErrorCode.TIMEOUT_UNKNOWN_OUTCOME, ErrorCode.STORE_UNAVAILABLE, ErrorCode.DRAINING])
async def test_no_outcome_of_a_call_is_a_failing_status(code: ErrorCode) -> None:
    """An older client takes a 5xx for silence and waits for its own timeout; any client may repeat one by itself."""

    async def ending(call: ToolCall) -> Envelope:
        return fail(code, Meta(request_id=call.request_id))

    async with serving(FakeCore(on_call=ending)) as served:
        answer = await ask(served, "tools/call", CALL)

    assert answer["result"]["structuredContent"]["error"]["code"] == code.value


async def test_an_unknown_tool_is_an_error_of_the_protocol() -> None:
    """With the envelope as its data; a name that no tool can have as well, and that one leaves a row here."""

    async def unknown(call: ToolCall) -> Envelope:
        return fail(ErrorCode.UNKNOWN_TOOL, Meta(request_id=call.request_id))

    async with serving(FakeCore(on_call=unknown)) as served:
        answer = await ask(served, "tools/call", {"name": "nope"})
        impossible = await ask(served, "tools/call", {"name": "no such tool"})
        rows = [envelope.error for envelope, _ in served.core.refusals if envelope.error]

    for each in (answer, impossible):
        assert each["error"]["code"] == -32602
        assert each["error"]["data"]["error"]["code"] == "unknown_tool"
    assert [row.code for row in rows] == [ErrorCode.UNKNOWN_TOOL]


async def test_a_failure_after_asking_is_an_unknown_outcome() -> None:
    """The core may have sent: the model reads that it may have been carried out, and never that nothing was."""

    async def broken(_: ToolCall) -> Envelope:
        raise RuntimeError("planted")

    async with serving(FakeCore(on_call=broken)) as served:
        answer = await ask(served, "tools/call", CALL)
        rows = [(envelope.meta.tool, caller) for envelope, caller in served.core.refusals]

    assert answer["result"]["structuredContent"]["error"]["code"] == "gateway_error_unknown_outcome"
    assert "planted" not in json.dumps(answer)
    assert rows == [("issue_refund", CALLER)]


async def test_a_failure_before_asking_is_a_fault_of_the_server() -> None:
    """200 with a JSON-RPC error, as ever."""

    class Broken(FakeCore):
        async def catalogue(self, caller: Any) -> Any:
            del caller
            raise RuntimeError("planted")

    async with serving(Broken()) as served:
        answer = await ask(served, "tools/list")

    assert answer["error"]["code"] == -32603
    assert answer["error"]["data"]["error"]["code"] == "gateway_error"


async def test_malformed_parameters_leave_a_row(served: Served) -> None:
    """It was a call, if not one that could be made."""
    answer = await ask(served, "tools/call", CALL, **{"oncegate/stepp": 4})

    assert answer["error"]["code"] == -32602
    assert "did you mean step?" in answer["error"]["message"]
    ((envelope, caller),) = served.core.refusals
    assert (envelope.meta.tool, caller) == ("issue_refund", CALLER)
    assert served.core.asked == []


@pytest.mark.parametrize(
    "method", ["resources/list", "prompts/get", "logging/setLevel", "nonsense", "initialize", "ping"]
)
async def test_what_2026_does_not_have_is_404(served: Served, method: str) -> None:
    """With the error that tells it from a wrong address."""
    params = {"name": "x"} if method == "prompts/get" else None
    status, _, answer = await ask_for_status(served, method, params)

    assert (status, answer["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", ["resources/list", "server/discover", "nonsense"])
async def test_an_older_client_is_told_with_200(served: Served, method: str) -> None:
    """It would take a 404 for the end of its session."""
    status, _, answer = await send(served, message(method), **OLD)

    assert (status, answer["error"]["code"]) == (200, -32601)


@pytest.mark.parametrize("headers", [{}, OLD, {"MCP_Protocol_Version": "2026-07-28"}])
async def test_headers_that_disagree_are_refused_before_anything_is_asked(
    served: Served, headers: dict[str, str]
) -> None:
    """400 and the code that the revision has for it."""
    status, _, answer = await send(served, modern("tools/call", CALL), **headers)

    assert (status, answer["id"], answer["error"]["code"]) == (400, 1, -32020)
    assert served.core.asked == []


async def test_a_header_that_comes_twice_is_refused(served: Served) -> None:
    """Which of the two a proxy read, nobody knows."""
    body = json.dumps(message("ping")).encode()
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nMcp-Method: a\r\nMcp-Method: b\r\n\r\n"
    status, _, answer = await served.raw(head.encode() + body)

    assert (status, answer["jsonrpc"], answer["error"]["code"]) == (400, "2.0", -32600)


@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/initialized", "notifications/whatever"])
async def test_a_notification_is_taken_without_a_word(served: Served, method: str) -> None:
    """Of both eras; and a cancellation cancels nothing."""
    params = {"requestId": 1, "reason": "changed my mind"}
    old = await send(served, {"jsonrpc": "2.0", "method": method, "params": params}, **OLD)
    new = await send(served, {k: v for k, v in modern(method, params).items() if k != "id"})

    assert [(status, body) for status, _, body in (old, new)] == [(202, b""), (202, b"")]
    assert served.core.asked == []


async def test_an_answer_to_nothing_is_taken_too(served: Served) -> None:
    """Older clients may believe that they were asked."""
    status, _, body = await send(served, {"jsonrpc": "2.0", "id": 1, "result": {}}, **OLD)

    assert (status, body) == (202, b"")


@pytest.mark.parametrize("credential", ["", "Bearer wrong", "Basic YTpi"])
async def test_without_a_valid_key_nothing_is_told(served: Served, credential: str) -> None:
    """401 with a challenge, for a message of any kind, and no row: nobody knows whose it would be."""
    status, headers, answer = await send(served, message("initialize"), Authorization=credential)

    assert (status, answer["error"]["data"]["error"]["code"]) == (401, "unauthenticated")
    assert headers["www-authenticate"] == 'bearer realm="oncegate"'
    assert "id" not in answer
    assert (served.core.asked, served.core.refusals) == ([], [])


HOSTILE = {
    "nothing": b"",
    "half": b'{"jsonrpc":',
    "nan": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
    "twice": b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
    "utf-16": '{"jsonrpc":"2.0"}'.encode("utf-16"),
    "deep": b"[" * 100 + b"]" * 100,
    "2^53": b'{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
async def test_json_that_two_readers_could_read_differently(served: Served, body: bytes) -> None:
    """The same strict parser as on `/v1`; the caller was known, so there is a row."""
    status, _, answer = await served.post("/mcp", body, Host="localhost")

    assert (status, answer["error"]["code"]) == (400, -32700)
    assert len(served.core.refusals) == 1


@pytest.mark.parametrize("body", [b"7", b'"a"', b"{}", b"null"])
async def test_json_that_is_no_message(served: Served, body: bytes) -> None:
    """Another code, the same status."""
    status, _, answer = await served.post("/mcp", body, Host="localhost")

    assert (status, answer["error"]["code"]) == (400, -32600)


async def test_only_json_is_read(served: Served) -> None:
    """415 as on `/v1`."""
    status, _, answer = await served.post("/mcp", b"{}", Host="localhost", Content_Type="text/plain")

    assert (status, answer["error"]["data"]["error"]["code"]) == (415, "unsupported_media_type")


async def test_a_batch_of_the_revision_that_had_them(served: Served) -> None:
    """Each request has its answer, in order; one that fails fails alone."""
    batch = [
        message("ping", rpc_id="a"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        message("tools/call", CALL, rpc_id="b"),
        7,
        message("nonsense", rpc_id="c"),
    ]
    status, _, answers = await send(served, batch)

    assert status == 200
    assert [answer.get("id") for answer in answers] == ["a", "b", None, "c"]
    assert answers[1]["result"]["isError"] is False
    assert [answer["error"]["code"] for answer in answers[2:]] == [-32600, -32601]


async def test_a_batch_of_notifications_has_no_answer(served: Served) -> None:
    """202, as for one."""
    status, _, body = await send(served, [{"jsonrpc": "2.0", "method": "notifications/initialized"}])

    assert (status, body) == (202, b"")


@pytest.mark.parametrize("batch", [[], [message("ping")] * 33])
async def test_a_batch_is_bounded(served: Served, batch: list[Any]) -> None:
    """Empty and endless ones are refused whole."""
    status, _, answer = await send(served, batch)

    assert (status, answer["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", "2026-07-28"])
async def test_later_revisions_have_no_batches(served: Served, version: str) -> None:
    """One message a request."""
    status, _, answer = await send(served, [message("ping")], MCP_Protocol_Version=version)

    assert (status, answer["error"]["code"]) == (400, -32600)
