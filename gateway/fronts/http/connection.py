"""One client connection: uvicorn's, with a bounded head, no answer that is not ours, and a short way for tool calls."""

import asyncio
import re
from typing import Any, Final, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta
from gateway.fronts.http.answers import Refusal, answer_of, misshapen
from gateway.fronts.http.connections import Connections
from gateway.fronts.http.turn import Turn

# The one spelling of the hot routes. Whatever is not quite this goes to the router, which knows better.
_CALL: Final = re.compile(rb"/v1/tools/([A-Za-z0-9_.-]+)/calls|/mcp")
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
# A chunk's length in eight digits, and two line ends.
_CHUNK_BYTES: Final = 12
_MALFORMED: Final = misshapen("it is not well-formed HTTP/1.1")
_UPGRADE_WITH_BODY: Final = misshapen("it asks for an upgrade and has a body; leave out Upgrade")


class Connection(HttpToolsProtocol):
    """uvicorn's protocol, with a `Turn` where a tool is called.

    The parser keeps whatever arrives until a head is complete, and later until a trailer is, so the bounds have to be
    here as well. An upgrade is never taken; since the parser takes it for granted, a request that asks for one is the
    last of its connection.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(server_state, Connections)  # noqa: S101 - `Server` makes both
        self._shared = server_state
        self._in_head = True
        self._is_last = False
        self._fault = _MALFORMED
        self._bare_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._is_leaving = False
        self._idle_since = 0.0
        self._turn: Turn | None = None

    @property
    def default_lines(self) -> bytes:
        """See `Connections`."""
        return self._shared.default_lines

    @property
    def _last(self) -> RequestResponseCycle | None:
        """The request that came last, answered or not."""
        return self.cycle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        # Without a first byte it is idle, as it is after an answer.
        self._idle_since = self.loop.time()
        self._await_request(self.timeout_keep_alive)

    def data_received(self, data: bytes) -> None:
        if self._is_last:
            # The parser would take it for a request.
            return
        # What is no body: of the head while it comes, after it of trailers and of what is written around chunks. Where
        # a head or a message ends inside a segment, the rest of the segment is not counted.
        self._bare_bytes += len(data)
        super().data_received(data)
        if not self._in_head:
            if self._bare_bytes < 0:
                self._bare_bytes = 0
            elif self._bare_bytes > self._shared.max_head_bytes:
                # The request may have been answered: nothing more can be said.
                self.transport.close()
        elif not self.transport.is_closing():
            if self._bare_bytes > self._shared.max_head_bytes:
                self._refuse(
                    Refusal(
                        ErrorCode.INVALID_HEADER,
                        f"Nothing was executed: the request's head is larger than {self._shared.max_head_bytes} bytes. Send less.",
                    )
                )
            elif self._head_timer is None:
                self._await_head()

    def on_message_begin(self) -> None:
        self._in_head = True
        self.url = b""
        self.expect_100_continue = False
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        # What comes later are trailers, which may not mean what a header means: RFC 9110 section 6.5.1.
        if self._in_head:
            lower = name.lower()
            if lower == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((lower, value))

    def on_headers_complete(self) -> None:
        self._in_head, self._bare_bytes = False, 0
        self._unset_head_timer()
        if self.parser.should_upgrade():
            self._end_with_this()
        called = _CALL.fullmatch(self.url)
        if called is None or not self._is_plain_post():
            url, headers, expects = self.url, self.headers, self.expect_100_continue
            super().on_message_begin()
            self.url, self.expect_100_continue = url, expects
            self.headers.extend(headers)
            super().on_headers_complete()
            if self._is_last:
                self.cycle.keep_alive = False
            return
        before = self._last
        tool = None if called[1] is None else called[1].decode()
        turn = Turn(self, tool, self.headers, keep_alive=self.parser.should_keep_alive())
        # uvicorn looks at no more of a cycle than a turn has.
        cycle = self.cycle = cast("RequestResponseCycle", turn)
        if before is None or before.response_complete:
            self._start_asgi_task(cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))

    def _is_plain_post(self) -> bool:
        parser = self.parser
        return (
            parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and not (self.expect_100_continue or self._is_last)
        )

    def _end_with_this(self) -> None:
        """Let nothing follow the request that asks for an upgrade: past its head the parser no longer knows what is what.

        Raises:
            ValueError: to the parser, whose fault `send_400_response` answers: a body would be the next request.
        """
        self._is_last = True
        if any(name in _FRAMING for name, _ in self.headers):
            self._fault = _UPGRADE_WITH_BODY
            raise ValueError

    def _unsupported_upgrade_warning(self) -> None:
        """Nobody who runs this can act on it: an upgrade that is not taken is an ordinary request."""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        turn: object = cycle
        if isinstance(turn, Turn):
            self._turn = turn
            turn.begin(self._shared.calls(turn), self.tasks)
        else:
            self._turn = None
            super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())

    def on_body(self, body: bytes) -> None:
        self._bare_bytes -= len(body)
        super().on_body(body)

    def on_chunk_header(self) -> None:
        """A chunk has begun. A body in small ones is a body all the same."""
        self._bare_bytes -= _CHUNK_BYTES

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._bare_bytes = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self._unset_head_timer()
        self._unset_write_timer()
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        super().connection_lost(exc)
        turn = self._turn
        if turn is not None and not turn.response_complete:
            # uvicorn tells the request that came last; this may be one in front of it.
            turn.disconnected = True
            turn.set()
        # A turn knows its connection. Together they would be a ring, left for the collector.
        self._turn = None
        self.cycle = None  # type: ignore[assignment]  # as uvicorn has it before the first request
        if not self.connections:
            self._shared.none_left()

    def _unset_keepalive_if_required(self) -> None:
        """Not at each request: the timer is set once, and looks at the time when it rings."""

    def _await_request(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def timeout_keep_alive_handler(self) -> None:
        left_s = self._idle_since + self.timeout_keep_alive - self.loop.time()
        last = self._last
        if self.transport.is_closing():
            self._leave()
        elif self._head_timer is not None or not (last is None or last.response_complete):
            self._await_request(self.timeout_keep_alive)
        elif left_s > 0:
            # Not less than the loop's timers can tell apart.
            self._await_request(max(left_s, 0.001))
        else:
            self.transport.close()
            self._leave()

    def _leave(self) -> None:
        """A closed connection lasts until all that was written is taken: wait for that once, not for good."""
        if self._is_leaving:
            self.transport.abort()
            return
        self._is_leaving = True
        self._await_request(self._shared.patience_s)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unset_write_timer()
        self._write_timer = self.loop.call_later(self._shared.patience_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._unset_write_timer()
        super().resume_writing()

    def _unset_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the parser's words are not ours
        self._refuse(self._fault)

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self._shared.patience_s, self._head_is_late)

    def _unset_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self._calls_run():
            # The client waits for the call in front of this request, and may well send the rest after its answer.
            self._await_head()
            return
        self._refuse(misshapen(f"its head did not arrive within {self._shared.patience_s:g} s"))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer and close; only close while a call may be running, whose client would take the answer for its own."""
        if not self._calls_run():
            answer = answer_of(refusal.envelope(Meta(request_id="")), ((b"connection", b"close"),))
            lines = [b"HTTP/1.1 %d Bad Request" % answer.status, *(b"%b: %b" % header for header in answer.headers)]
            self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + answer.body)
        self.transport.close()

    def _calls_run(self) -> bool:
        cycle = self._last
        if cycle is None or cycle.response_complete:
            return False
        # A request whose body is not complete has started nothing; one in front of it may have.
        return bool(self.pipeline) or not cycle.more_body
