"""A body is the declared result, or the action was carried out and its result cannot be read."""

from typing import Any

import pytest

from gateway.contract.codes import ErrorCode
from gateway.manifest.result import ResultSchema
from gateway.stages.execute.attempt.exchange import Answer
from gateway.stages.normalise.payload import Misread, Readable, SchemaFault, Unreadable, read

REFUND = ResultSchema({"type": "object", "required": ["refund_id"], "properties": {"refund_id": {"type": "string"}}})


def _read(body: bytes, *, fault: SchemaFault | None = None, max_bytes: int = 100, closed: bool = False) -> Any:
    return read(Answer(status=200, headers=(), body=body, close_delimited=closed), fault=fault, max_bytes=max_bytes)


@pytest.mark.parametrize(
    ("body", "value"),
    [(b'{"refund_id":"RF-1","x":[1.5]}', {"refund_id": "RF-1", "x": [1.5]}), (b"null", None), (b"", None)],
)
def test_json_is_read_as_it_is(body: bytes, value: Any) -> None:
    """Raw: nothing is cut or cleaned yet. An empty body is null."""
    assert _read(body) == Readable(value=value)


@pytest.mark.parametrize("body", [b"OK", b"{", b"<html>", b'{"a":1,"a":2}', b"NaN", b"\xff", b"9007199254740993"])
def test_what_is_not_strict_json_is_unreadable(body: bytes) -> None:
    """A body that two readers could read differently is not handed on."""
    misread = _read(body)

    assert misread.misread is Misread.NOT_JSON
    assert misread.code is ErrorCode.RESULT_UNREADABLE


@pytest.mark.parametrize("body", [b'{"status":"pending"}', b'{"refund_id":7}', b"[]", b"null", b""])
def test_what_does_not_fit_the_schema_is_unreadable(body: bytes) -> None:
    """The 204 that a proxy answers in place of a time-out included."""
    misread = _read(body, fault=REFUND.fault)

    assert isinstance(misread, Unreadable)
    assert misread.misread is Misread.NOT_DECLARED


def test_what_fits_the_schema_is_readable() -> None:
    """Members the schema does not name are kept; the view decides about them."""
    assert _read(b'{"refund_id":"RF-1","note":"x"}', fault=REFUND.fault) == Readable(
        value={"refund_id": "RF-1", "note": "x"}
    )


def test_a_body_over_the_limit_is_too_large() -> None:
    """The limit itself is allowed."""
    assert _read(b'"12345678"', max_bytes=10) == Readable(value="12345678")
    misread = _read(b'"123456789"', max_bytes=10)
    assert (misread.misread, misread.code) == (Misread.TOO_LARGE, ErrorCode.RESULT_TOO_LARGE)


@pytest.mark.parametrize(("body", "whole"), [(b"425000", False), (b"1.5", False), (b'{"a":1}', True), (b"true", True)])
def test_a_bare_number_that_ended_with_the_connection_may_have_been_cut(body: bytes, whole: bool) -> None:  # noqa: FBT001 - a table's column
    """An object or a word shows its end; a number does not."""
    assert isinstance(_read(body, closed=True), Readable) is whole
    assert isinstance(_read(body), Readable)


def test_the_detail_holds_nothing_of_a_value() -> None:
    """An operator reads where it went wrong, not what the tool said."""
    misread = _read(b'{"refund_id":["hunter2"]}', fault=REFUND.fault)

    assert "hunter2" not in misread.detail
    assert "refund_id" in misread.detail
