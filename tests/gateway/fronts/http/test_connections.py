"""What the connections of one server share."""

from gateway.fronts.http.connections import Calls, Connections
from gateway.fronts.http.turn import Turn


async def _never(_: Turn) -> None:
    raise AssertionError


NEVER: Calls = _never


def test_header_lines_follow_the_date() -> None:
    """The lines of every answer are made once for each list of headers that uvicorn makes, and are those of the newest."""
    shared = Connections(1024, 1.0, lambda: None, NEVER)
    shared.default_headers = [(b"date", b"Sun, 29 Nov 2026 20:00:00 GMT"), (b"x", b"1")]
    first = shared.default_lines
    again = shared.default_lines
    shared.default_headers = [(b"date", b"Sun, 29 Nov 2026 20:00:01 GMT")]

    assert first == b"date: Sun, 29 Nov 2026 20:00:00 GMT\r\nx: 1\r\n"
    assert again is first
    assert shared.default_lines == b"date: Sun, 29 Nov 2026 20:00:01 GMT\r\n"
