"""What may be written into a header block, and how."""

from typing import Any

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.http_tool.origin import parse_origin
from gateway.adapters.http_tool.progress import Failed
from gateway.adapters.http_tool.request_head import FRAMING, encode_head
from gateway.stages.execute.attempt.exchange import Fault, WireRequest

ORIGIN = parse_origin("https://pay.example")


def head(**fields: Any) -> str:
    request = WireRequest(**{"method": "GET", "origin": "https://pay.example", "target": "/"} | fields)
    return encode_head(request, ORIGIN).decode("ascii")


def test_a_request_is_written_in_the_order_given() -> None:
    """Secrets last, then what the transport adds."""
    assert head(
        method="POST", target="/a?b=%2F", headers=(("B", "1"), ("a", "")), body=b"xy", secret_headers=(("S", "t"),)
    ) == (
        "POST /a?b=%2F HTTP/1.1\r\nHost: pay.example\r\nB: 1\r\na: \r\nS: t\r\n"
        "Accept-Encoding: identity\r\nContent-Length: 2\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [
        ("GET", b"", None),
        ("DELETE", b"", None),
        ("GET", b"x", "1"),
        ("POST", b"", "0"),
        ("PUT", b"", "0"),
        ("PATCH", b"", "0"),
    ],
)
def test_a_length_is_named_where_a_body_is_expected(method: str, body: bytes, length: str | None) -> None:
    """A POST without one would be answered 411 by some."""
    assert ("Content-Length" in (text := head(method=method, body=body))) == (length is not None)
    assert length is None or f"Content-Length: {length}\r\n" in text


def test_whoever_asks_for_a_coding_gets_to_ask() -> None:
    """The transport asks for none by default."""
    assert "identity" not in head(headers=(("accept-encoding", "gzip"),))


@pytest.mark.parametrize("name", sorted(FRAMING))
def test_framing_headers_are_the_transports_own(name: str) -> None:
    """In any case; two lengths are a smuggled request."""
    with pytest.raises(Failed) as failed:
        head(headers=((name.title(), "1"),))

    assert failed.value.fault is Fault.BAD_REQUEST


@pytest.mark.parametrize(
    "value", ["a\r\nb", "a\nb", "a\rb", "a\0b", "a\x7fb", "caf\u00e9", " a", "a ", "\ta", "\ud800"]
)
def test_a_value_cannot_end_its_line(value: str) -> None:
    """The refusal names the header and never the value."""
    with pytest.raises(Failed) as failed:
        head(secret_headers=(("X-Secret", value),))

    assert failed.value.detail == "the value of header X-Secret has characters that no header may have"


@pytest.mark.parametrize(
    "target", ["", "a", "*", "http://x/", "/a b", "/a#b", "/a\\b", "/\x7f", "/\u00e9", "/a\r\n", "/\0"]
)
def test_a_target_is_a_path_of_visible_ascii(target: str) -> None:
    """Encoded before it comes here."""
    with pytest.raises(Failed):
        head(target=target)


@pytest.mark.parametrize("method", ["", "GE T", "GET\r\n", "CONNECT", "connect", "G\u00c9T", "GET/"])
def test_a_method_is_a_token(method: str) -> None:
    """And never CONNECT, whose answer is not an answer."""
    with pytest.raises(Failed):
        head(method=method)


@given(
    st.text(max_size=12),
    st.text(max_size=12),
    st.lists(st.tuples(st.text(max_size=8), st.text(max_size=12)), max_size=4),
    st.binary(max_size=20),
)
def test_another_parser_reads_exactly_what_was_meant(
    method: str, path: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    """Whatever the values: refused, or one request with these headers and this body."""
    try:
        block = head(method=method, target=f"/{path}", headers=tuple(headers), body=body)
    except Failed:
        return
    server = h11.Connection(h11.SERVER)
    server.receive_data(block.encode("ascii") + body + b"GET /next HTTP/1.1\r\n")

    request = server.next_event()
    data = server.next_event() if body else None

    assert isinstance(request, h11.Request)
    assert (request.method.decode(), request.target.decode()) == (method, f"/{path}")
    assert [(name.decode(), value.decode()) for name, value in request.headers][1 : 1 + len(headers)] == [
        (name.lower(), value) for name, value in headers
    ]
    assert data is None or (isinstance(data, h11.Data) and data.data == body)
    assert isinstance(server.next_event(), h11.EndOfMessage)
