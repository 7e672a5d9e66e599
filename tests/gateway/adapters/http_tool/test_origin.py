"""Origins in parts."""

import pytest

from gateway.adapters.http_tool.origin import Origin, parse_origin
from gateway.adapters.http_tool.progress import Failed
from gateway.stages.execute.attempt.exchange import Fault


@pytest.mark.parametrize(
    ("text", "tls", "host", "port", "authority"),
    [
        ("https://pay.example:443", True, "pay.example", 443, "pay.example"),
        ("https://Pay.Example", True, "pay.example", 443, "pay.example"),
        ("http://pay.example:80", False, "pay.example", 80, "pay.example"),
        ("http://pay.example:443", False, "pay.example", 443, "pay.example:443"),
        ("http://[::1]:8080", False, "::1", 8080, "[::1]:8080"),
        ("https://127.0.0.1", True, "127.0.0.1", 443, "127.0.0.1"),
    ],
)
def test_an_origin_is_scheme_host_and_port(text: str, host: str, port: int, authority: str, *, tls: bool) -> None:
    """The default port is not named in the Host header."""
    assert parse_origin(text) == Origin(tls, host, port, authority)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pay.example",
        "ftp://pay.example",
        "HTTPS://pay.example",
        "https://",
        "https://pay.example/",
        "https://pay.example/path",
        "https://user@pay.example",
        "https://pay.example#x",
        "https://pay.example?x",
        "https://pay.example:",
        "https://pay.example:0",
        "https://pay.example:65536",
        "https://pay.example:٤٤٣",
        "https://pay.exämple",
        "https://pay.example\r\nX: 1",
        "https://pay.example\n",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """Before a name is resolved."""
    with pytest.raises(Failed) as failed:
        parse_origin(text)

    assert failed.value.fault is Fault.BAD_REQUEST


def test_an_origin_is_parsed_once_and_shown_as_it_was_meant() -> None:
    """The same object for the same text."""
    assert parse_origin("https://pay.example:443") is parse_origin("https://pay.example:443")
    assert str(parse_origin("https://pay.example:443")) == "https://pay.example"
    assert str(parse_origin("http://[::1]:81")) == "http://[::1]:81"
