"""One answer in any pieces, held against a second opinion (h11)."""

import gzip
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.http_tool.answer_reader import HEAD_BYTES, AnswerReader
from gateway.stages.execute.attempt.exchange import Answer, Fault, Phase

PACKED = gzip.compress(b"hello", mtime=0)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def read(*pieces: bytes, method: str = "GET", limit: int = 1_000_000, closed: bool = False) -> AnswerReader:
    reader = AnswerReader(method=method, result_bytes=limit)
    for piece in pieces:
        reader.feed(piece)
    if closed:
        reader.peer_closed()
    return reader


def body_of(reader: AnswerReader) -> bytes | None:
    answer = reader.finish()
    return None if answer is None else answer.body


def test_an_answer_is_read_whole() -> None:
    """Names in lower case, values stripped, in the order received."""
    reader = read(b"HTTP/1.1 201 Created\r\nX-A:  1 \r\nx-a: 2\r\nContent-Length: 1\r\n\r\n\xff")

    assert (reader.phase, reader.ended, reader.reusable, reader.fault) == (Phase.COMPLETE, True, True, None)
    assert reader.finish() == Answer(
        status=201, headers=(("x-a", "1"), ("x-a", "2"), ("content-length", "1")), body=b"\xff"
    )


def test_there_is_no_answer_before_its_headers_are_complete() -> None:
    """A status line proves nothing yet."""
    reader = read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n")

    assert (reader.phase, reader.status, reader.finish()) == (Phase.SENT, 0, None)


@pytest.mark.parametrize("extra", [b"junk", OK, b"\r\n", b"HTTP/1.1 500 No\r\n\r\n"])
@pytest.mark.parametrize("at_once", [True, False])
def test_what_follows_an_answer_changes_nothing_but_the_connection(extra: bytes, *, at_once: bool) -> None:
    """In the same piece or in a later one."""
    reader = read(OK + extra) if at_once else read(OK, extra)

    # A blank line behind an answer is tolerated by llhttp; a connection with it may be used again.
    assert reader.reusable == (extra == b"\r\n" and at_once)
    assert (reader.status, reader.fault, body_of(reader)) == (200, None, b"{}")


def test_the_header_block_is_bounded_however_it_comes() -> None:
    """Exactly at the bound it is complete; one byte more is too much; interim answers count."""
    start, end = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ", b"\r\n\r\n"
    full = start + b"x" * (HEAD_BYTES - len(start) - len(end)) + end

    assert read(full).phase is Phase.COMPLETE
    assert read(full[:100], full[100:]).phase is Phase.COMPLETE
    assert read(start + b"x" + full[len(start) :]).fault is Fault.MALFORMED
    assert read(b"HTTP/1.1 103 Hints\r\n\r\n", full).fault is Fault.MALFORMED
    assert read(*[b"HTTP/1.1 103 Hints\r\n\r\n"] * 5_000).fault is Fault.MALFORMED


def test_trailers_are_ignored_and_bounded() -> None:
    """They say nothing, and no peer may fill our memory with them."""
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"

    reader = read(chunked + b"Status: 500\r\n\r\n")
    endless = read(chunked, *[b"X: " + b"y" * 100_000] * 20, limit=1_000)

    assert reader.finish() == Answer(status=200, headers=(("transfer-encoding", "chunked"),), body=b"x")
    assert endless.fault is Fault.BODY_TOO_LARGE


def test_one_byte_chunks_are_let_through() -> None:
    """Wasteful, and within the bound on framing."""
    chunks = b"1\r\nx\r\n" * 1_000

    reader = read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n", limit=1_000)

    assert (reader.phase, body_of(reader)) == (Phase.COMPLETE, b"x" * 1_000)


@pytest.mark.parametrize("limit", [0, 1, 9])
def test_the_body_is_bounded(limit: int) -> None:
    """Cut at the limit, and the answer's status is kept."""
    reader = read(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", b"01234", b"56789", limit=limit)

    assert (reader.fault, reader.status, body_of(reader)) == (Fault.BODY_TOO_LARGE, 200, b"0123456789"[:limit])


def test_a_body_at_the_limit_is_whole() -> None:
    """The limit is the largest size allowed."""
    assert read(OK, limit=2).fault is None


@pytest.mark.parametrize(
    ("data", "phase", "fault"),
    [
        (b"", Phase.SENT, Fault.DISCONNECTED),
        (b"HTTP/1.1 200 OK\r\n", Phase.SENT, Fault.DISCONNECTED),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Phase.SENT, Fault.DISCONNECTED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", Phase.HEADERS, Fault.DISCONNECTED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1", Phase.BODY, Fault.DISCONNECTED),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", Phase.BODY, Fault.DISCONNECTED),
        (b"HTTP/1.1 200 OK\r\n\r\n", Phase.HEADERS, None),
        (b"HTTP/1.1 200 OK\r\n\r\n1", Phase.BODY, None),
        (OK, Phase.COMPLETE, None),
    ],
)
def test_a_close_ends_only_what_says_that_a_close_ends_it(data: bytes, phase: Phase, fault: Fault | None) -> None:
    """Everything else was cut."""
    reader = read(data, closed=True)

    assert (reader.phase, reader.fault, reader.ended, reader.reusable) == (phase, fault, True, False)


@pytest.mark.parametrize(
    "head",
    [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3",
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 2",
        "HTTP/1.1 200 OK\r\nContent-Length: +2",
        "HTTP/1.1 200 OK\r\nContent-Length: -1",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked",
        "HTTP/2.0 200 OK\r\nContent-Length: 2",
        "HTTP/0.9 200 OK\r\nContent-Length: 2",
        "http/1.1 200 OK\r\nContent-Length: 2",
        "RTSP/1.0 200 OK\r\nContent-Length: 2",
        "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2",
        "HTTP/1.1 099 Odd\r\nContent-Length: 2",
        "HTTP/1.1 101 Switching",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 200 OK\r\nX : 1",
        "HTTP/1.1 200 OK\r\nX: 1\r\n folded",
        "HTTP/1.1 200 OK\r\nX: a\0b",
        "HTTP/1.1 200 OK\nX: 1",
    ],
)
def test_what_two_readers_could_read_differently_is_refused(head: str) -> None:
    """No guess about where the answer ends."""
    reader = read(head.encode() + b"\r\n\r\n{}")

    assert (reader.fault, reader.phase, reader.reusable, reader.finish()) == (Fault.MALFORMED, Phase.SENT, False, None)


def test_an_answer_may_be_enough_before_it_ends() -> None:
    """A stream that goes on is left, with what came until then; its connection has no next answer."""
    seen: list[bytes] = []

    def enough(headers: Sequence[tuple[str, str]], piece: bytes) -> bool:
        assert ("x-a", "1") in headers
        seen.append(piece)
        return piece == b"two"

    reader = AnswerReader(method="POST", result_bytes=100, enough=enough)
    head = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    for piece in (head, b"3\r\none\r\n", b"3\r\ntwo\r\n", b"5\r\nthree\r\n"):
        reader.feed(piece)
    assert seen == [b"one", b"two"]
    assert (reader.phase, reader.ended, reader.reusable, reader.fault) == (Phase.COMPLETE, True, False, None)
    assert body_of(reader) == b"onetwo"


def test_the_first_cause_is_kept() -> None:
    """What happens to an answer that has ended is no news."""
    reader = read(b"HTTP/1.1 200 OK\r\n", closed=True)

    reader.fail(Fault.ABORTED, "too late")

    assert (reader.fault, reader.detail) == (Fault.DISCONNECTED, "the peer closed without a complete answer")


def test_an_answer_can_be_disowned() -> None:
    """As if it had not come."""
    reader = read(OK)

    reader.disown("not ours")

    assert (reader.phase, reader.fault, reader.reusable, reader.finish()) == (Phase.SENT, Fault.MALFORMED, False, None)


@pytest.mark.parametrize(("limit", "fault", "body"), [(5, None, b"hello"), (4, Fault.BODY_TOO_LARGE, PACKED)])
def test_a_coded_body_is_decoded_within_the_limit(limit: int, fault: Fault | None, body: bytes) -> None:
    """Refused, it stays as it came, for nobody to read."""
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(PACKED)}\r\n\r\n"
    reader = read(head.encode() + PACKED, limit=len(PACKED))
    reader._limit = limit

    assert (body_of(reader), reader.fault) == (body, fault)


def test_half_a_coded_body_is_left_alone() -> None:
    """It was lost before it could be corrupt."""
    reader = read(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nabc", closed=True)

    assert (body_of(reader), reader.fault) == (b"abc", Fault.DISCONNECTED)


TOKENS = st.text("abcXYZ-", min_size=1, max_size=6)
VALUES = st.text("abc ,;=019", max_size=10).map(str.strip)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """A valid answer, interim ones before it, in one of the three framings."""
    interim = draw(st.lists(st.sampled_from([100, 102, 103]), max_size=2))
    status = draw(st.sampled_from([200, 201, 204, 304, 400, 409, 503]))
    fields = [(f"x-{name}", value) for name, value in draw(st.lists(st.tuples(TOKENS, VALUES), max_size=4))]
    body = draw(st.binary(max_size=40))
    framing = draw(st.sampled_from(["length", "chunked", "close"]))
    lines = [f"HTTP/1.1 {number} Interim\r\nLink: <a>\r\n\r\n" for number in interim]
    if status in {204, 304}:
        body, framing = b"", "none"
    fields += {"length": [("content-length", str(len(body)))], "chunked": [("transfer-encoding", "chunked")]}.get(
        framing, []
    )
    if draw(st.booleans()):
        fields.append(("connection", draw(st.sampled_from(["close", "keep-alive"]))))
    lines.append(f"HTTP/1.1 {status} Some Reason\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields) + "\r\n")
    if framing == "chunked":
        sizes = draw(st.lists(st.integers(1, 9), max_size=9))
        chunked, rest = b"", body
        for size in [*sizes, len(body) or 1]:
            piece, rest = rest[:size], rest[size:]
            chunked += f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if piece else b""
        body = chunked + b"0\r\n" + draw(st.sampled_from([b"", b"X-Trailer: 1\r\n"])) + b"\r\n"
    return "".join(lines).encode() + body


def second_opinion(data: bytes, *, method: str) -> tuple[Any, ...]:
    """What h11 makes of the same bytes and a close: status, headers, body, complete, reusable; or an error."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
    client.send(h11.EndOfMessage())
    client.receive_data(data)
    status, headers, body, complete, reusable, closed = 0, [], b"", False, False, False
    try:
        while True:
            event = client.next_event()
            if event is h11.NEED_DATA:
                client.receive_data(b"")
                closed = True
            elif isinstance(event, h11.Response):
                status = event.status_code
                headers = [(name.decode().lower(), value.decode()) for name, value in event.headers]
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                complete, reusable = True, client.their_state is h11.DONE and not closed
                break
            elif event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                break
    except h11.RemoteProtocolError:
        pass
    return status, headers, body, complete, reusable


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    edges = [0, *places, len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@settings(max_examples=400)
@given(st.data(), answers(), st.sampled_from(["GET", "HEAD", "POST"]))
def test_h11_reads_the_same_in_any_pieces(data: st.DataObject, answer: bytes, method: str) -> None:
    """Status, headers, body, completeness and what becomes of the connection; cut anywhere, also in the end."""
    whole = data.draw(st.booleans())
    given_bytes = answer if whole else answer[: data.draw(st.integers(0, len(answer)))]

    reader = read(*data.draw(cut(given_bytes)), method=method, closed=True)
    found = reader.finish()

    status, headers, body, complete, _ = second_opinion(given_bytes, method=method)
    assert (0 if found is None else found.status) == status
    assert headers == [] if found is None else list(found.headers) == headers
    assert method == "HEAD" or (b"" if found is None else found.body) == body
    assert (reader.fault is None) == complete


@settings(max_examples=200)
@given(st.data(), answers())
def test_h11_and_we_agree_on_using_a_connection_again(data: st.DataObject, answer: bytes) -> None:
    """As long as the peer has not closed it."""
    reader = read(*data.draw(cut(answer)))

    assert reader.reusable == second_opinion(answer, method="GET")[4]


@settings(max_examples=300)
@given(st.data(), answers())
def test_whatever_comes_is_read_or_refused_alike_in_any_pieces(data: st.DataObject, answer: bytes) -> None:
    """A broken answer ends the same way whole and in pieces, and never raises."""
    place = data.draw(st.integers(0, len(answer)))
    broken = answer[:place] + data.draw(st.binary(min_size=1, max_size=6)) + answer[place:]

    whole, pieces = read(broken, closed=True), read(*data.draw(cut(broken)), closed=True)

    assert (whole.phase, whole.status, whole.fault) == (pieces.phase, pieces.status, pieces.fault)
    assert whole.finish() == pieces.finish()
