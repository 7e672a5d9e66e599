"""Bytes of one answer in, what they prove out. No socket and no clock: it can be fed in any pieces."""

from typing import Any, Final

import httptools

from gateway.adapters.http_tool.decoding import decode
from gateway.adapters.http_tool.progress import Failed
from gateway.stages.execute.attempt.exchange import Answer, Enough, Fault, Phase

HEAD_BYTES: Final = 65_536
"""The header block, interim answers included, may not be larger."""

_VERSIONS: Final = frozenset({"1.1", "1.0"})
_START: Final = b"HTTP/"
# One-byte chunks cost six bytes a byte; more framing than this is an attack on memory (trailers) or patience.
_FRAMING_FACTOR: Final = 16


class AnswerReader:
    """Reads one answer; a new one is made for each exchange.

    Attributes:
        phase: SENT until the header block is complete, then HEADERS, BODY, COMPLETE. It stays at HEADERS for an
            answer to HEAD and at BODY for one that ends with its connection: their end proves nothing more.
        status: of the final answer, 0 before its headers are complete.
        early: whoever feeds it knows that its head came before the request had arrived.
        ended: nothing more is expected; further bytes change nothing but `reusable`.
        reusable: the connection may carry another exchange.
        surplus: bytes came behind the answer, which nobody had asked for.
        fault: what broke the answer, None while nothing has.
        detail: the same in words of our own.
    """

    __slots__ = (
        "_chunks",
        "_close_delimited",
        "_enough",
        "_head_left",
        "_head_only",
        "_headers",
        "_interim",
        "_limit",
        "_parser",
        "_raw_left",
        "_size",
        "_start",
        "detail",
        "early",
        "ended",
        "fault",
        "phase",
        "reusable",
        "status",
        "surplus",
    )

    def __init__(self, *, method: str, result_bytes: int, enough: Enough | None = None) -> None:
        self.phase = Phase.SENT
        self.status = 0
        self.early = False
        self.ended = False
        self.reusable = False
        self.surplus = False
        self.fault: Fault | None = None
        self.detail = ""
        self._limit = result_bytes
        self._enough = enough
        self._head_only = method == "HEAD"
        self._head_left = HEAD_BYTES
        self._raw_left = result_bytes * _FRAMING_FACTOR + HEAD_BYTES
        self._start = b""
        self._interim = False
        self._close_delimited = False
        self._headers: list[tuple[str, str]] = []
        self._chunks: list[bytes] = []
        self._size = 0
        self._parser: Any = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Take what came next. Never raises; look at `ended`."""
        if self.phase is Phase.SENT and not self.ended:
            data = self._feed_head(data)
        if not data:
            return
        if self.ended:
            self.reusable, self.surplus = False, True
            return
        self._raw_left -= len(data)
        if self._raw_left < 0:
            self.fail(Fault.BODY_TOO_LARGE, "the answer's framing is larger than any body within the limit needs")
            return
        self._parse(data)

    def peer_closed(self) -> None:
        """The peer will send no more."""
        if self.ended:
            self.reusable = False
        elif self.phase is Phase.SENT:
            self.fail(Fault.DISCONNECTED, "the peer closed without a complete answer")
        elif self._close_delimited:
            self.ended = True
        else:
            self.fail(Fault.DISCONNECTED, "the peer closed inside the body")

    def fail(self, fault: Fault, detail: str) -> None:
        """End here, unless it has ended: the first cause is the one that counts."""
        if not self.ended:
            self.ended = True
            self.fault = fault
            self.detail = detail

    def disown(self, detail: str) -> None:
        """Take back an answer that cannot be the answer to our request. What broke it off is told on."""
        self.phase = Phase.SENT
        if self.fault is None:
            self.fault, self.detail = Fault.MALFORMED, detail
        self.reusable = False

    def finish(self) -> Answer | None:
        """The answer as far as it came, decoded; None before its headers were complete. To be called once, at the end."""
        self._parser = None
        if self.phase is Phase.SENT:
            return None
        body = b"".join(self._chunks)
        headers = self._headers
        coding = ", ".join(value for name, value in headers if name == "content-encoding")
        if coding and self.fault is None:
            try:
                body = decode(body, coding, self._limit)
            except Failed as failed:
                self.fault, self.detail = failed.fault, failed.detail
            else:
                headers = [pair for pair in headers if pair[0] not in {"content-encoding", "content-length"}]
        return Answer(status=self.status, headers=tuple(headers), body=body, close_delimited=self._close_delimited)

    def _feed_head(self, data: bytes) -> bytes:
        """Parse at most the rest of the header bound, and return what was not parsed."""
        if len(self._start) < len(_START):
            self._start += data[: len(_START) - len(self._start)]
            if not _START.startswith(self._start) and not self._start.startswith(_START):
                self.fail(Fault.MALFORMED, "the answer does not begin as HTTP does")
                return b""
        head, rest = data[: self._head_left], data[self._head_left :]
        self._head_left -= len(head)
        self._parse(head)
        if self.phase is Phase.SENT and self._head_left == 0:
            self.fail(Fault.MALFORMED, f"the answer's header block is over {HEAD_BYTES} bytes")
        return rest

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.fail(Fault.MALFORMED, "the answer switches protocols")
        except httptools.HttpParserError:
            # Junk behind a complete answer is raised by the feed that completed it, and must not undo it.
            self.reusable, self.surplus = False, self.ended
            self.fail(Fault.MALFORMED, "the answer is not readable HTTP")

    # Called by the parser. What they raise would be wrapped and renamed, so they raise nothing.

    def on_message_begin(self) -> None:
        if self.ended:
            self.reusable, self.surplus = False, True

    def on_header(self, name: bytes, value: bytes) -> None:
        # Behind the header block come trailers, which say nothing that counts.
        if self.phase is Phase.SENT:
            self._headers.append((name.decode("latin-1").lower(), value.decode("latin-1").strip()))

    def on_headers_complete(self) -> None:
        if self.ended:
            return
        status = self._parser.get_status_code()
        if self._parser.get_http_version() not in _VERSIONS:
            self.fail(Fault.MALFORMED, "the answer is of a version of HTTP that was not spoken to")
        elif status < 100 or status == 101:
            self.fail(Fault.MALFORMED, "the answer's status is none that was asked for")
        elif status < 200:
            self._interim = True
        else:
            self._begin_body(status)

    def on_body(self, body: bytes) -> None:
        if self.ended:
            return
        self.phase = Phase.BODY
        self._size += len(body)
        if self._size <= self._limit:
            self._chunks.append(body)
            if self._enough is not None and self._enough(self._headers, body):
                # The peer has not ended its answer, so the connection has no next one.
                self.phase = Phase.COMPLETE
                self.ended = True
                self._close_delimited = False
        else:
            self._chunks.append(body[: self._limit - self._size])
            self.fail(Fault.BODY_TOO_LARGE, "the answer's body is larger than the limit")

    def on_message_complete(self) -> None:
        if self.ended:
            return
        if self._interim:
            self._interim = False
            self._headers.clear()
            return
        self.phase = Phase.COMPLETE
        self.ended = True
        self.reusable = self._parser.should_keep_alive()

    def _begin_body(self, status: int) -> None:
        coding = [value.lower() for name, value in self._headers if name == "transfer-encoding"]
        if coding and (coding != ["chunked"] or self._parser.get_http_version() != "1.1"):
            # The parser takes `gzip` for close-delimited: its end would then mean nothing.
            self.fail(Fault.MALFORMED, "the answer has a transfer coding that was not asked for")
            return
        self.phase = Phase.HEADERS
        self.status = status
        if self._head_only:
            # The parser would wait for the body that Content-Length speaks of.
            self.ended = True
        elif status not in {204, 304} and not coding:
            self._close_delimited = all(name != "content-length" for name, _ in self._headers)
