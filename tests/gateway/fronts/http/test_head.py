"""The head of a request, as bytes."""

import pytest

from gateway.contract.codes import ErrorCode
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.head import Incoming, bearer_token, read_head, require_json, trace_context

HOST = (b"host", b"gateway")
ANY: frozenset[bytes] = frozenset()


def test_only_headers_that_mean_something_are_kept() -> None:
    """Forwarding headers of proxies, and everything unknown, decide nothing."""
    head = read_head([HOST, (b"accept", b"a"), (b"x-forwarded-for", b"1.1.1.1")], max_bytes=1000, hosts=ANY)

    assert head == {b"host": b"gateway", b"accept": b"a"}


def test_the_bound_counts_what_goes_over_the_wire() -> None:
    """Names, values, and four bytes a line."""
    headers = [HOST, (b"a", b"b")]

    assert read_head(headers, max_bytes=21, hosts=ANY)
    with pytest.raises(Refusal):
        read_head(headers, max_bytes=20, hosts=ANY)


@pytest.mark.parametrize(
    ("credential", "token"),
    [(b"Bearer abc", "abc"), (b"bearer abc", "abc"), (b"BEARER  abc ", "abc")],
)
def test_the_scheme_has_no_case(credential: bytes, token: str) -> None:
    """RFC 9110: schemes are case-insensitive, and space around the token is not part of it."""
    assert bearer_token({b"authorization": credential}) == token


@pytest.mark.parametrize(
    "credential", [b"Bearer", b"Bearer  ", b"Basic abc", b"abc", b"Bearer \xff", b"Bearer " + b"x" * 8193]
)
def test_anything_else_is_no_credential(credential: bytes) -> None:
    """No token, another scheme, bytes outside ASCII or a giant are `unauthenticated`."""
    with pytest.raises(Refusal) as refused:
        bearer_token({b"authorization": credential})

    assert refused.value.code is ErrorCode.UNAUTHENTICATED


def test_an_identity_encoding_is_no_encoding() -> None:
    """Content-Encoding: identity says nothing and is let in."""
    require_json({b"content-type": b"application/json", b"content-encoding": b"identity"})


def test_a_request_times_itself() -> None:
    """An envelope of the front says how long the request took it, in milliseconds."""
    meta = Incoming("r", 10.0, {}).meta(10.25, "t")

    assert (meta.request_id, meta.tool, meta.elapsed_ms) == ("r", "t", 250)


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        (b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", True),
        (b"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", True),
        (b"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", False),
        (b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", False),
        (b"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", False),
        (b"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", False),
        (b"nonsense", False),
    ],
)
def test_trace_context_is_kept_only_when_it_parses(header: bytes, kept: bool) -> None:  # noqa: FBT001 - a table's column
    """W3C trace context, section 3.2."""
    parent, state = trace_context({b"traceparent": header, b"tracestate": b"a=b"})

    assert (parent is not None) is kept
    assert (state is not None) is kept


def test_an_oversized_trace_state_is_dropped_alone() -> None:
    """Tracestate over 512 characters is left out; its parent stays."""
    parent = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    assert trace_context({b"traceparent": parent, b"tracestate": b"a" * 513}) == (parent.decode(), None)
