from typing import Any

import pytest

from gateway.contract.call import Expect, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.head import Incoming
from gateway.fronts.mcp.proposals import OWN_MEMBERS, own_members, parse_tool_call, run_id

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01"


def parsed(meta: dict[str, Any] | None = None, head: dict[bytes, bytes] | None = None, **params: Any) -> ToolCall:
    incoming = Incoming("req_1", 0.0, head or {}, trace=(OTHER, "http=1"))
    return parse_tool_call({"name": "issue_refund", **params}, meta or {}, incoming)


def refused(meta: dict[str, Any] | None = None, head: dict[bytes, bytes] | None = None, **params: Any) -> ErrorCode:
    with pytest.raises(Refusal) as refusal:
        parsed(meta, head, **params)
    return refusal.value.code


def test_a_plain_call() -> None:
    """Name and arguments are enough."""
    assert parsed(arguments={"order_id": "ORD-1"}) == ToolCall(
        tool="issue_refund",
        arguments={"order_id": "ORD-1"},
        request_id="req_1",
        traceparent=OTHER,
        tracestate="http=1",
    )


def test_everything_a_call_can_have_travels_in_meta() -> None:
    """Each member of ours reaches its field."""
    meta = {
        "progressToken": 3,
        "oncegate/run-id": "run-7",
        "oncegate/step": 4,
        "oncegate/tokens": 1260,
        "oncegate/key": '"refund-1"',
        "oncegate/attempt": 2,
        "oncegate/store-epoch": "epoch-1",
        "oncegate/timeout-ms": 1500,
        "oncegate/approval-id": "apr_1",
        "oncegate/repeat-of": "01JOLD",
        "oncegate/expect": {"operation_key": "k", "action_hash": "sha256:1"},
        "traceparent": TRACE,
        "tracestate": "a=b",
    }

    assert {name.partition("/")[2] for name in meta if "/" in name} == set(OWN_MEMBERS)
    assert parsed(meta) == ToolCall(
        tool="issue_refund",
        arguments={},
        request_id="req_1",
        run_id="run-7",
        step=4,
        tokens=1260,
        idempotency_key="refund-1",
        attempt=2,
        store_epoch="epoch-1",
        deadline_ms=1500,
        approval_id="apr_1",
        repeat_of="01JOLD",
        expect=Expect(operation_key="k", action_hash="sha256:1"),
        traceparent=TRACE,
        tracestate="a=b",
    )


@pytest.mark.parametrize("wrong", [7, "", "nonsense", f"{TRACE}-more", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "é"])
def test_trace_context_that_is_none_leaves_that_of_the_headers(wrong: Any) -> None:
    """A malformed one is as good as none."""
    assert parsed({"traceparent": wrong, "tracestate": "a=b"}).traceparent == OTHER


def test_trace_state_belongs_to_its_parent() -> None:
    """That of the headers is not put to the parent of the body; one that is no text is none."""
    assert parsed({"traceparent": TRACE}).tracestate is None
    assert parsed({"traceparent": TRACE, "tracestate": 7}).tracestate is None


def test_headers_for_clients_that_cannot_touch_the_body() -> None:
    """Run and patience; `_meta` comes first for the latter."""
    head = {b"oncegate-run-id": b" run-7 ", b"x-request-timeout-ms": b"1500"}

    assert (parsed(head=head).run_id, parsed(head=head).deadline_ms) == ("run-7", 1500)
    assert parsed({"oncegate/run-id": "run-7", "oncegate/timeout-ms": 99}, head).deadline_ms == 99


def test_a_key_in_a_header_names_no_call() -> None:
    """A header is set on a connection, and would give every call of it the same key."""
    assert parsed(head={b"idempotency-key": b"k"}).idempotency_key is None


@pytest.mark.parametrize(
    ("meta", "head"),
    [
        ({"oncegate/run-id": "a"}, {b"oncegate-run-id": b"b"}),
        ({}, {b"oncegate-run-id": b"two words"}),
        ({"oncegate/run-id": 7}, {}),
        ({"oncegate/run-id": ""}, {}),
        ({"oncegate/runid": "a"}, {}),
        ({"oncegate/step": -1}, {}),
        ({"oncegate/step": 1.0}, {}),
        ({"oncegate/step": True}, {}),
        ({"oncegate/step": 1_000_000_000}, {}),
        ({"oncegate/attempt": 0}, {}),
        ({"oncegate/timeout-ms": 0}, {}),
        ({"oncegate/expect": "k"}, {}),
        ({"oncegate/expect": {"hash": "k"}}, {}),
        ({"oncegate/expect": {"action_hash": 7}}, {}),
        ({"oncegate/repeat-of": "two words"}, {}),
    ],
)
def test_what_cannot_be_meant_is_refused(meta: dict[str, Any], head: dict[bytes, bytes]) -> None:
    """A misspelt or misshapen member would otherwise be ignored in silence."""
    assert refused(meta, head) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("value", [b"0", b"soon", b"-1", b"9999999999"])
def test_a_timeout_header_is_a_number(value: bytes) -> None:
    """As on `/v1`."""
    assert refused(head={b"x-request-timeout-ms": value}) is ErrorCode.INVALID_HEADER


@pytest.mark.parametrize("key", [7, "", '"open', "two words", "k" * 256])
def test_a_key_that_is_none_is_refused(key: Any) -> None:
    """As on `/v1`."""
    assert refused({"oncegate/key": key}) is ErrorCode.INVALID_IDEMPOTENCY_KEY


def test_a_misspelt_member_is_told_with_the_one_that_was_meant() -> None:
    """The sentence names it."""
    with pytest.raises(Refusal) as refusal:
        own_members({"oncegate/run_id": "a"})

    assert refusal.value.context is not None
    assert "did you mean run-id?" in str(refusal.value.context.reason)


def test_members_of_others_are_theirs() -> None:
    """What has no prefix of ours is not looked at."""
    assert own_members({"com.example/run-id": 7, "progressToken": 1}) == {}


@pytest.mark.parametrize("name", [None, 7, ["a"]])
def test_a_name_is_a_text(name: Any) -> None:
    """Otherwise there is no call."""
    assert refused(name=name) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("name", ["", "a b", "größe", "x" * 129])
def test_a_name_that_no_tool_can_have(name: str) -> None:
    """Is that of no tool."""
    assert refused(name=name) is ErrorCode.UNKNOWN_TOOL


@pytest.mark.parametrize("arguments", [[], "x", 7])
def test_arguments_are_an_object(arguments: Any) -> None:
    """Or left out, or null."""
    assert refused(arguments=arguments) is ErrorCode.INVALID_REQUEST
    assert parsed(arguments=None).arguments == {}


def test_a_run_may_be_named_by_the_header_alone() -> None:
    """As a list asks for it, without a call."""
    assert run_id({}, Incoming("r", 0.0, {b"oncegate-run-id": b"run-7"})) == "run-7"
