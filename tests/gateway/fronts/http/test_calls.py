"""`POST /v1/tools/{tool}/calls`, from bytes on a socket to bytes on a socket."""

import asyncio
import json

import httpx
import pytest

from gateway.contract.call import Expect, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, parse_envelope, succeed
from tests.gateway.fronts.http.fake_core import CALLER, TOKEN, FakeCore
from tests.gateway.fronts.http.served import Served, read_answer, serving

PATH = "/v1/tools/issue_refund/calls"


async def test_a_call_reaches_the_core_whole(served: Served) -> None:
    """Every field of the body and every header of the contract arrives in the ToolCall."""
    body = {
        "arguments": {"order_id": "ORD-1"},
        "run": {"id": "run-7", "step": 4, "tokens": 1260},
        "expect": {"operation_key": "k", "action_hash": "sha256:1"},
        "repeat_of": "01JOLD",
    }
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    answer = await served.client.post(
        PATH,
        json=body,
        headers={
            "Idempotency-Key": '"refund-1"',
            "Idempotency-Attempt": "2",
            "Oncegate-Store-Epoch": "epoch-1",
            "X-Request-Timeout-Ms": "1500",
            "traceparent": trace,
            "tracestate": "a=b",
        },
    )

    call, caller = served.core.asked[0]
    assert caller == CALLER
    assert call == ToolCall(
        tool="issue_refund",
        arguments={"order_id": "ORD-1"},
        request_id=answer.json()["meta"]["request_id"],
        run_id="run-7",
        step=4,
        tokens=1260,
        idempotency_key="refund-1",
        attempt=2,
        store_epoch="epoch-1",
        deadline_ms=1500,
        traceparent=trace,
        tracestate="a=b",
        expect=Expect(operation_key="k", action_hash="sha256:1"),
        repeat_of="01JOLD",
    )


async def test_an_answer_is_an_envelope_with_its_headers(served: Served) -> None:
    """A result comes back as the envelope, typed as JSON, naming its operation, and is not to be stored on the way."""
    answer = await served.client.post(PATH, json={"arguments": {"order_id": "ORD-1"}})

    assert answer.status_code == 200
    assert parse_envelope(answer.json()).data == {"echo": {"order_id": "ORD-1"}}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["oncegate-operation-id"] == "01JOP"
    assert answer.headers["cache-control"] == "no-store"
    assert "idempotent-replayed" not in answer.headers
    assert "server" not in answer.headers


async def test_a_replay_says_so() -> None:
    """`meta.replayed` is also the header `Idempotent-Replayed: true`."""

    async def stored(call: ToolCall) -> Envelope:
        return succeed({"refund_id": "R1"}, Meta(request_id=call.request_id, replayed=True))

    async with serving(FakeCore(on_call=stored)) as served:
        answer = await served.client.post(PATH, json={})

    assert answer.headers["idempotent-replayed"] == "true"


async def test_a_wait_is_told_in_whole_seconds_rounded_up() -> None:
    """`retry_after_s` 1.2 is `Retry-After: 2`: a client that rounds down would come too early."""

    async def busy(call: ToolCall) -> Envelope:
        return fail(ErrorCode.CIRCUIT_OPEN, Meta(request_id=call.request_id), retry_after_s=1.2)

    async with serving(FakeCore(on_call=busy)) as served:
        answer = await served.client.post(PATH, json={})

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


async def test_request_ids_differ(served: Served) -> None:
    """Two requests of one process have two ids."""
    first = await served.client.post(PATH, json={})
    second = await served.client.post(PATH, json={})

    assert first.json()["meta"]["request_id"] != second.json()["meta"]["request_id"]


@pytest.mark.parametrize(
    "credential", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic YTpi", TOKEN, f"Bearer {'x' * 5000}", "Bearer \xe9"]
)
async def test_without_a_valid_key_nothing_is_asked(served: Served, credential: str) -> None:
    """No, another, an oversized or a malformed credential is 401 with a challenge, and the core never hears of it."""
    status, headers, body = await served.post(PATH, b"{}", Authorization=credential)

    assert (status, body["error"]["code"]) == (401, "unauthenticated")
    assert headers["www-authenticate"] == 'bearer realm="oncegate"'
    assert served.core.asked == []
    assert served.core.refusals == []


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]
)
async def test_only_json_is_read(served: Served, kind: str) -> None:
    """Another Content-Type, or none, is 415 before a byte of the body is read."""
    status, _, body = await served.post(PATH, b"{}", Content_Type=kind, Content_Length="100")

    assert (status, body["error"]["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"']
)
async def test_json_may_name_its_charset(served: Served, kind: str) -> None:
    """The same type in other words is let in."""
    status, _, _ = await served.post(PATH, b"{}", Content_Type=kind)

    assert status == 200


async def test_a_compressed_body_is_not_inflated(served: Served) -> None:
    """Content-Encoding is refused: a small body must not become a large one here."""
    status, _, body = await served.post(PATH, b"{}", Content_Encoding="gzip")

    assert (status, body["error"]["code"]) == (415, "unsupported_media_type")


HOSTILE = {
    "nan": b'{"arguments":{"a":NaN}}',
    "infinite": b'{"arguments":{"a":1e999}}',
    "long integer": b'{"arguments":{"a":' + b"9" * 5000 + b"}}",
    "2^53": b'{"arguments":{"a":9007199254740993}}',
    "deep": b'{"arguments":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "lone surrogate": b'{"arguments":{"a":"\\ud800"}}',
    "bad utf-8": b'{"arguments":{"a":"\xff"}}',
    "empty": b"",
    "spaces": b"   ",
    "duplicate name": b'{"arguments":{"a":1},"arguments":{"a":2}}',
    "duplicate argument": b'{"arguments":{"amount":1,"amount":100}}',
    "escaped duplicate": b'{"arguments":{"a":1,"\\u0061":2}}',
    "trailing": b"{} {}",
    "comment": b"{} // a",
    "bom": b"\xef\xbb\xbf{}",
    "single quotes": b"{'arguments':{}}",
    "nul": b'{"arguments":{"a":"\x00"}}',
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_json_is_refused_in_words(served: Served, body: bytes) -> None:
    """What two readers could read differently, or no reader should, is 400 `invalid_json`, and leaves a row."""
    status, _, answer = await served.post(PATH, body)

    assert (status, answer["error"]["code"]) == (400, "invalid_json")
    assert answer["error"]["outcome"] == "not_executed"
    assert served.core.asked == []
    assert [envelope.error and envelope.error.code for envelope, _ in served.core.refusals] == [ErrorCode.INVALID_JSON]


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'"x"',
        b"1",
        b"null",
        b'{"order_id":"ORD-1"}',
        b'{"arguments":[]}',
        b'{"run":{"step":true}}',
        b'{"run":{"id":""}}',
        b'{"run":{"step":-1}}',
        b'{"run":"x"}',
        b'{"expect":{"key":"x"}}',
        b'{"Arguments":{}}',
        b'{"repeat_of":5}',
    ],
)
async def test_a_body_of_another_shape_is_refused(served: Served, body: bytes) -> None:
    """Unknown members and wrong types are `invalid_request`: a misspelt member would be ignored in silence."""
    status, _, answer = await served.post(PATH, body)

    assert (status, answer["error"]["code"]) == (400, "invalid_request")
    assert served.core.asked == []


@pytest.mark.parametrize(
    ("header", "value", "code"),
    [
        ("Idempotency-Key", "a b", "invalid_idempotency_key"),
        ("Idempotency-Key", '"open', "invalid_idempotency_key"),
        ("Idempotency-Key", "x" * 256, "invalid_idempotency_key"),
        ("Idempotency-Key", "caf\xe9", "invalid_idempotency_key"),
        ("Idempotency-Attempt", "0", "invalid_header"),
        ("Idempotency-Attempt", "two", "invalid_header"),
        ("X-Request-Timeout-Ms", "-5", "invalid_header"),
        ("X-Request-Timeout-Ms", "1.5", "invalid_header"),
        ("X-Request-Timeout-Ms", "9999999999", "invalid_header"),
        ("Oncegate-Store-Epoch", "a b", "invalid_header"),
        ("Oncegate-Run-Id", "a b", "invalid_header"),
    ],
)
async def test_a_header_that_cannot_be_used_is_refused(served: Served, header: str, value: str, code: str) -> None:
    """A header of the contract is used or refused, never ignored."""
    status, _, answer = await served.post(PATH, b"{}", **{header: value})

    assert (status, answer["error"]["code"]) == (400, code)
    assert served.core.asked == []


async def test_the_run_may_come_in_a_header(served: Served) -> None:
    """`Oncegate-Run-Id` is `run.id` for clients that cannot touch the body; the two may not differ."""
    await served.post(PATH, b"{}", Oncegate_Run_Id="run-7")
    status, _, _ = await served.post(PATH, b'{"run":{"id":"run-8"}}', Oncegate_Run_Id="run-7")

    assert served.core.asked[0][0].run_id == "run-7"
    assert status == 400
    assert len(served.core.asked) == 1


async def test_a_malformed_trace_context_is_as_good_as_none(served: Served) -> None:
    """W3C trace context that does not parse is dropped, and the call goes on."""
    status, _, _ = await served.post(PATH, b"{}", traceparent="00-00000000000000000000000000000000-00f067aa0ba902b7-01")

    assert status == 200
    assert served.core.asked[0][0].traceparent is None


async def test_a_name_that_no_tool_can_have_is_no_tool(served: Served) -> None:
    """A path segment outside the names' alphabet is `unknown_tool`, and is not repeated in the answer."""
    status, _, answer = await served.post("/v1/tools/drop~table/calls", b"{}")

    assert (status, answer["error"]["code"]) == (404, "unknown_tool")
    assert answer["meta"]["tool"] is None


async def test_a_failure_after_the_core_was_asked_claims_nothing() -> None:
    """When the core itself fails, the action may have been carried out: 424 and unknown, never 500 and `not_executed`."""

    async def broken(_: ToolCall) -> Envelope:
        raise RuntimeError("planted")

    async with serving(FakeCore(on_call=broken)) as served:
        answer = await served.client.post(PATH, json={})

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["outcome"]) == (424, "gateway_error_unknown_outcome", "unknown")
    assert "planted" not in answer.text


async def test_an_answer_that_cannot_be_written_claims_nothing() -> None:
    """A result that is not JSON comes after the action: the answer is unknown, not an error page."""

    async def strange(call: ToolCall) -> Envelope:
        return succeed({"a": object()}, Meta(request_id=call.request_id))

    async with serving(FakeCore(on_call=strange)) as served:
        answer = await served.client.post(PATH, json={})

    assert (answer.status_code, answer.json()["error"]["code"]) == (424, "gateway_error_unknown_outcome")


async def test_prepare_goes_to_prepare(served: Served) -> None:
    """The route beside `calls` takes the same body and asks the core to execute nothing."""
    answer = await served.client.post("/v1/tools/issue_refund/prepare", json={"arguments": {"a": 1}})

    assert answer.json()["data"] == {"operation_key": "k"}
    assert served.core.asked[0][0] == "prepare"
    assert served.core.asked[0][1].arguments == {"a": 1}


async def test_prepare_that_fails_has_executed_nothing(served: Served) -> None:
    """`prepare` sends nothing, so its failure is a plain `gateway_error`."""
    answer = await served.client.post("/v1/tools/broken/prepare", json={})

    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "gateway_error")


async def test_a_client_that_goes_away_cancels_its_call() -> None:
    """The core learns by cancellation that nobody waits any more; what that means for a write is the core's to know."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(_: ToolCall) -> Envelope:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    async with serving(FakeCore(on_call=slow)) as served:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        head = f"POST {PATH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Content-Length: 2\r\n\r\n{}")
        await asyncio.wait_for(begun.wait(), 5)
        writer.close()
        await asyncio.wait_for(cancelled.wait(), 5)


async def test_a_client_that_goes_away_in_its_body_has_asked_nothing(served: Served) -> None:
    """Half a body is no call; the server goes on."""
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    head = f"POST {PATH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    writer.write(head.encode() + b"Content-Length: 200\r\n\r\n{")
    writer.close()
    await writer.wait_closed()

    answer = await served.client.post(PATH, json={})

    assert answer.status_code == 200
    assert len(served.core.asked) == 1


async def test_many_calls_on_many_connections_keep_their_answers() -> None:
    """Two hundred clients with the same Idempotency-Key text each get their own arguments back."""
    async with serving() as served:

        async def one(number: int) -> int:
            answer = await served.client.post(
                PATH, json={"arguments": {"n": number}}, headers={"Idempotency-Key": "same"}
            )
            echoed: int = answer.json()["data"]["echo"]["n"]
            return echoed

        numbers = await asyncio.gather(*(one(number) for number in range(200)))

    assert numbers == list(range(200))


async def test_a_garbage_request_behind_a_call_does_not_answer_for_it() -> None:
    """A malformed request pipelined behind a running write closes the connection: its 400 would be read as the write's."""
    release = asyncio.Event()

    async def slow(call: ToolCall) -> Envelope:
        await release.wait()
        return succeed({}, Meta(request_id=call.request_id))

    async with serving(FakeCore(on_call=slow)) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        head = f"POST {PATH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Content-Length: 2\r\n\r\n{}")
        writer.write(b"\x00 garbage\r\n\r\n")
        received = await asyncio.wait_for(reader.read(), 5)
        release.set()
        writer.close()

    assert received == b""


async def test_pipelined_calls_are_answered_in_order(served: Served) -> None:
    """Two requests sent at once on one connection get two answers, first one first."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    for number in (1, 2):
        body = json.dumps({"arguments": {"n": number}}).encode()
        head = f"POST {PATH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    answers = [await read_answer(reader) for _ in (1, 2)]
    writer.close()

    assert [body["data"]["echo"]["n"] for _, _, body in answers] == [1, 2]


async def test_an_answer_keeps_numbers_that_orjson_cannot_write() -> None:
    """An integer beyond 64 bits in a stored result comes back digit by digit."""

    async def large(call: ToolCall) -> Envelope:
        return succeed({"n": 2**70}, Meta(request_id=call.request_id))

    async with serving(FakeCore(on_call=large)) as served:
        answer = await served.client.post(PATH, json={})

    assert answer.json()["data"] == {"n": 2**70}


async def test_the_core_may_answer_in_any_status() -> None:
    """Status and code are those of the contract's table."""

    async def unknown(call: ToolCall) -> Envelope:
        return fail(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME, Meta(request_id=call.request_id))

    async with serving(FakeCore(on_call=unknown)) as served:
        answer: httpx.Response = await served.client.post(PATH, json={})

    assert answer.status_code == 424
