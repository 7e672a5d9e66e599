"""From body and headers to a ToolCall."""

from typing import Any

import pytest

from gateway.contract.codes import ErrorCode
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.head import Incoming
from gateway.fronts.http.proposals import parse_call


def parse(document: dict[str, Any], head: dict[bytes, bytes] | None = None) -> Any:
    """The call of a body and headers."""
    return parse_call("t", document, Incoming("r", 0.0, head or {}, ("p", "s")))


def test_an_empty_body_is_a_call_without_arguments() -> None:
    """Everything is optional, and `null` is the same as absent."""
    nothing = {"arguments": None, "run": None, "approval_id": None, "expect": None, "repeat_of": None}

    assert parse({}) == parse(nothing)
    assert parse({}).arguments == {}
    assert parse({}).attempt == 1
    assert parse({}).expect is None


def test_half_an_expectation_is_one() -> None:
    """The key alone, or the hash alone, may be expected."""
    call = parse({"expect": {"action_hash": "sha256:1"}})

    assert (call.expect.operation_key, call.expect.action_hash) == (None, "sha256:1")


@pytest.mark.parametrize("name", ["x" * 129, "a b", "a/b", "", "café", "a\n"])
def test_what_cannot_be_a_name_is_no_tool(name: str) -> None:
    """Names are 1 to 128 of letters, digits, `_`, `.` and `-`."""
    with pytest.raises(Refusal) as refused:
        parse_call(name, {}, Incoming("r", 0.0, {}))

    assert refused.value.code is ErrorCode.UNKNOWN_TOOL


def test_a_misspelt_member_is_told_with_the_one_that_was_meant() -> None:
    """`argument` is refused with a hint, and the known names are listed."""
    with pytest.raises(Refusal) as refused:
        parse({"argument": {}})

    assert refused.value.context is not None
    assert "did you mean arguments?" in str(refused.value.context.reason)
    assert refused.value.details["unknown"] == ["argument"]


@pytest.mark.parametrize("raw", [b"refund-1", b'"refund-1"', b" refund-1 "])
def test_quotes_are_not_part_of_a_key(raw: bytes) -> None:
    """Bare and quoted keys are one key."""
    assert parse({}, {b"idempotency-key": raw}).idempotency_key == "refund-1"


def test_the_same_run_may_be_named_twice() -> None:
    """Header and body that agree are one run."""
    call = parse({"run": {"id": "run-7"}}, {b"oncegate-run-id": b"run-7"})

    assert call.run_id == "run-7"


def test_an_approval_is_passed_on() -> None:
    """`approval_id` reaches the core, which knows what it is worth."""
    assert parse({"approval_id": "A1"}).approval_id == "A1"


def test_the_trace_is_the_requests() -> None:
    """What telemetry made of the inbound context is what the call carries."""
    assert (parse({}).traceparent, parse({}).tracestate) == ("p", "s")
