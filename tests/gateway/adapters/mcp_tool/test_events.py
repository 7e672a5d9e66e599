"""Streams, fed in any pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.mcp_tool.events import EventReader, ResponseWatch, is_stream

STREAM = b': hi\nevent: message\ndata: {"a":\ndata:1}\nid: 4\nretry: 5\n\n\ndata: two\n\ndata\n\ndata: lost'


@given(st.lists(st.integers(1, 40), max_size=20), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_events_do_not_depend_on_the_pieces(cuts: list[int], line_end: bytes) -> None:
    """Nor on how lines end; what was not ended is no event."""
    text, reader, found = STREAM.replace(b"\n", line_end), EventReader(), []
    for cut in cuts:
        found += reader.feed(text[:cut])
        text = text[cut:]
    found += reader.feed(text)
    assert found == [b'{"a":\n1}', b"two", b""]


def test_the_watch_ends_with_the_answer() -> None:
    """Before it, other messages are heard; a change of tools is remembered."""
    watch, head = ResponseWatch(3, max_bytes=1000), (("content-type", "text/event-stream; charset=utf-8"),)
    assert not watch(head, b'data: {"method":"notifications/tools/list_changed"}\n\n')
    assert not watch(head, b'data: {"id":2,"result":{}}\n\ndata: not json\n\n')
    assert watch(head, b'data: {"id":3,"result":{"x":1}}\n\n')
    assert watch.response is not None
    assert (watch.response.result, watch.tools_changed) == ({"x": 1}, True)


def test_the_first_answer_counts() -> None:
    """A second one under the same id changes nothing."""
    watch = ResponseWatch(3, max_bytes=1000)
    watch.feed(b'data: {"id":3,"result":{"x":1}}\n\ndata: {"id":3,"error":{"code":-1}}\n\n')
    assert watch.response is not None
    assert watch.response.result == {"x": 1}


@pytest.mark.parametrize(
    ("kind", "is_one"),
    [("text/event-stream", True), ("Text/Event-Stream ;x", True), ("application/json", False), ("", False)],
)
def test_a_stream_is_told_by_its_type(kind: str, is_one: bool) -> None:  # noqa: FBT001
    """Anything else is one document, which is read at its end."""
    assert is_stream((("content-type", kind),)) is is_one
    assert ResponseWatch(3, max_bytes=99)((("content-type", kind),), b'data: {"id":3,"result":{}}\n\n') is is_one
