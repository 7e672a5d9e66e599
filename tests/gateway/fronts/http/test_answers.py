"""Envelopes written out."""

from types import MappingProxyType

import pytest

from gateway.contract.codes import FACTS, ErrorCode
from gateway.contract.envelope import Meta, fail, succeed
from gateway.fronts.http.answers import Refusal, answer_of, encode, envelope_response, json_response
from gateway.stages.feedback.context import Context

META = Meta(request_id="r")


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_has_its_status(code: ErrorCode) -> None:
    """The status of an answer is the one of the code's row, and never 2xx."""
    answer = answer_of(fail(code, META))

    assert answer.status == FACTS[code].status
    assert answer.status >= 400


@pytest.mark.parametrize("code", [code for code, facts in FACTS.items() if facts.status == 503])
def test_every_503_says_when_to_come_back(code: ErrorCode) -> None:
    """A client that obeys HTTP waits, whatever the reason of a 503."""
    answer = answer_of(fail(code, META))

    assert int(dict(answer.headers)[b"retry-after"]) >= 1


@pytest.mark.parametrize(("seconds", "header"), [(0.0, b"0"), (0.2, b"1"), (1.0, b"1"), (59.01, b"60")])
def test_a_wait_is_rounded_up(seconds: float, header: bytes) -> None:
    """Retry-After holds whole seconds, never fewer than meant."""
    answer = answer_of(fail(ErrorCode.RATE_LIMITED, META, retry_after_s=seconds))

    assert dict(answer.headers)[b"retry-after"] == header


def test_only_a_missing_credential_is_challenged() -> None:
    """WWW-Authenticate goes with 401 and with nothing else."""
    challenged = [code for code in ErrorCode if b"www-authenticate" in dict(answer_of(fail(code, META)).headers)]

    assert challenged == [ErrorCode.UNAUTHENTICATED]


def test_details_may_be_any_plain_data() -> None:
    """Read-only mappings, tuples and sets of names become JSON."""
    assert (
        encode({"a": MappingProxyType({"b": (1, 2)}), "c": frozenset({"y", "x"})}) == b'{"a":{"b":[1,2]},"c":["x","y"]}'
    )


def test_a_lone_surrogate_can_be_sent() -> None:
    """Text that UTF-8 cannot hold goes out as the escape that it came in as."""
    assert encode({"a": "\ud800"}) == b'{"a":"\\ud800"}'


def test_what_is_not_json_is_an_error_here() -> None:
    """An object of ours in an envelope is a fault, found before a byte is sent."""
    with pytest.raises(TypeError, match="object is not JSON"):
        answer_of(succeed(object(), META))


def test_a_refusal_is_an_envelope() -> None:
    """A refusal carries its own sentence and details, or those of its code, filled from its context."""
    filled = Refusal(ErrorCode.INVALID_HEADER, context=Context(header="A", reason="it is odd")).envelope(META).error
    own = Refusal(ErrorCode.INVALID_HEADER, "Mine.", details={"header": "A"}).envelope(META).error
    row = Refusal(ErrorCode.INVALID_HEADER).envelope(META).error

    assert filled is not None
    assert own is not None
    assert row is not None
    assert "A has a value that cannot be used: it is odd." in filled.message
    assert (own.message, own.details) == ("Mine.", {"header": "A"})
    assert (row.message, row.details) == (FACTS[ErrorCode.INVALID_HEADER].sentence, {})


def test_both_ways_out_write_the_same() -> None:
    """The plain ASGI answer and Starlette's response of one envelope are the same bytes and headers."""
    envelope = succeed({"a": 1}, META)
    answer, response = answer_of(envelope, ((b"etag", b"x"),)), envelope_response(envelope, ((b"etag", b"x"),))

    assert (response.status_code, response.raw_headers, response.body) == (answer.status, answer.headers, answer.body)


def test_a_bare_document_is_json_too() -> None:
    """Health and the contract document are typed and not stored on the way."""
    response = json_response({"alive": True}, 503)

    assert (response.status_code, response.body) == (503, b'{"alive":true}')
    assert response.headers["cache-control"] == "no-store"
