"""One shape on every path: `ok` or an error, and `meta` always."""

import json
import subprocess
import sys
from typing import Any

import pytest

from gateway.contract.codes import FACTS, ErrorCode, NextAction
from gateway.contract.envelope import Envelope, Meta, fail, parse_envelope, succeed

META = Meta(request_id="req-1", tool="issue_refund", tool_version="1.2.0", run_id="run-9", step=4, warnings=("late",))


def test_success_has_data_and_no_error() -> None:
    """`ok` true: `error` is null, and the status is 200."""
    envelope = succeed({"refund_id": "RF-1"}, META)

    assert envelope.status == 200
    document = envelope.to_dict()
    assert list(document) == ["ok", "data", "error", "meta"]
    assert (document["ok"], document["data"], document["error"]) == (True, {"refund_id": "RF-1"}, None)


@pytest.mark.parametrize("code", ErrorCode)
def test_failure_takes_its_facts_from_the_table(code: ErrorCode) -> None:
    """Without more context every field of the error is the code's row."""
    envelope = fail(code, META)
    row = FACTS[code]

    assert envelope.status == row.status
    assert envelope.to_dict()["data"] is None
    assert envelope.to_dict()["error"] == {
        "code": code.value,
        "message": row.sentence,
        "outcome": row.outcome.value,
        "retryable": row.retryable,
        "retry_after_s": row.retry_after_s,
        "next_action": row.next_action.value,
        "details": {},
    }


def test_the_context_may_know_better_than_the_table() -> None:
    """Message, details, wait, advice and retryability can be given; the outcome cannot."""
    error = fail(
        ErrorCode.CIRCUIT_OPEN,
        META,
        message="payments is down.",
        details={"dependency": "payments"},
        retry_after_s=12.5,
        next_action=NextAction.ESCALATE,
        retryable=False,
    ).to_dict()["error"]

    assert error == {
        "code": "circuit_open",
        "message": "payments is down.",
        "outcome": "not_executed",
        "retryable": False,
        "retry_after_s": 12.5,
        "next_action": "escalate",
        "details": {"dependency": "payments"},
    }


def test_a_wait_of_zero_is_a_wait() -> None:
    """A given `retry_after_s` of 0 is not replaced by the table's number."""
    error = fail(ErrorCode.CIRCUIT_OPEN, META, retry_after_s=0.0).error

    assert error is not None
    assert error.retry_after_s == 0.0


@pytest.mark.parametrize(
    ("ok", "data", "has_error"), [(True, None, True), (False, None, False), (False, {"refund_id": "RF-1"}, True)]
)
def test_contradictions_cannot_be_built(ok: bool, data: Any, has_error: bool) -> None:  # noqa: FBT001 - a table's columns
    """Success with an error, failure without one, and failure with data raise."""
    error = fail(ErrorCode.OUTCOME_UNKNOWN, META).error if has_error else None

    with pytest.raises(ValueError, match="an envelope"):
        Envelope(ok=ok, data=data, error=error, meta=META)


def test_meta_names_every_field_of_the_contract() -> None:
    """The fields, and only they, are on the wire whether they have a value or not."""
    assert set(Meta(request_id="req-1").to_dict()) == {
        "operation_id",
        "request_id",
        "tool",
        "tool_version",
        "manifest_digest",
        "run_id",
        "step",
        "attempts",
        "elapsed_ms",
        "idempotency_key",
        "replayed",
        "recorded",
        "store_epoch",
        "source",
        "fetched_at",
        "truncated",
        "trace_id",
        "approval_id",
        "warnings",
    }


@pytest.mark.parametrize("field", Meta.__slots__)
def test_every_meta_field_reaches_the_wire(field: str) -> None:
    """A value put into a field comes out under the same name."""
    value: Any = ("late",) if field == "warnings" else "here"
    meta = Meta(**{"request_id": "req-1", field: value})

    assert meta.to_dict()[field] == (["late"] if field == "warnings" else "here")


@pytest.mark.parametrize("envelope", [succeed([1, None], META), fail(ErrorCode.DECLINED, META, details={"a": 1})])
def test_what_is_written_can_be_read_back(envelope: Envelope) -> None:
    """The wire form is plain JSON, and parsing it gives an equal value."""
    assert parse_envelope(json.loads(json.dumps(envelope.to_dict()))) == envelope


def test_fields_of_a_newer_gateway_are_left_out() -> None:
    """The contract grows by fields; an older reader goes on reading."""
    document = succeed(1, META).to_dict()
    document["meta"]["region"] = "eu"
    document["signature"] = "…"

    assert parse_envelope(document) == succeed(1, META)


@pytest.mark.parametrize("missing", ["ok", "data", "error", "meta"])
def test_half_an_envelope_is_refused(missing: str) -> None:
    """A body that lacks one of the four members is no envelope."""
    document = fail(ErrorCode.DECLINED, META).to_dict()
    del document[missing]

    with pytest.raises(ValueError, match="not an envelope"):
        parse_envelope(document)


def test_a_code_this_reader_does_not_know_is_refused() -> None:
    """Without its row of facts a code says nothing about the effect, so it is not guessed."""
    document = fail(ErrorCode.DECLINED, META).to_dict()
    document["error"]["code"] = "later_code"

    with pytest.raises(ValueError, match="later_code"):
        parse_envelope(document)


def test_the_client_can_import_the_contract_without_the_server() -> None:
    """Codes, call and envelope need the standard library only."""
    program = (
        "import sys; import gateway.contract.codes, gateway.contract.call, gateway.contract.envelope;"
        "print([name for name in ('orjson', 'rfc8785', 'starlette', 'jsonschema_rs') if name in sys.modules])"
    )

    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert result.stdout == "[]\n"
