"""One socket, one exchange at a time.

Everything between the first byte of a request and the end of its answer happens in callbacks, with one future an
exchange and one timer a connection; whoever ends it first says why.
"""

import asyncio
import select
import socket
from collections.abc import Callable
from typing import Final, cast

from gateway.adapters.http_tool import kernel, surplus
from gateway.adapters.http_tool.answer_reader import AnswerReader
from gateway.adapters.http_tool.tls_alerts import is_client_refused
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Fault, Limits, Phase

SLICE: Final = 65_536
"""Bytes written at once. TLS takes whatever it is given and shows back-pressure only at the next write."""
AT_ONCE: Final = 4_096
"""Head and body: what the kernel takes whole of an idle connection, however small its buffers are."""
HELD_BACK: Final = 256
"""Bytes of a longer request that are written when all others arrive in time, too, and only in time themselves."""

# uvloop's timers are whole milliseconds, rounded down.
_TICK_S: Final = 0.001
_ASKS_AGAIN_S: Final = 0.002
"""How often the kernel is asked what it has still to deliver."""


class Connection(asyncio.Protocol):
    """Carries exchanges for a pool.

    Attributes:
        peer: the origin that it is a connection to, for the log.
        sock: the socket itself; a loop may hand out an imitation that cannot be polled or tuned.
        closed: it is, or is about to be.
        carried: exchanges begun so far.
        written: whether the present request was handed to the kernel whole.
        idle_since: when the pool got it back, on Clock.monotonic.
        lost: done when the socket is gone.
    """

    sock: socket.socket

    def __init__(
        self, clock: Clock, *, on_open: Callable[["Connection"], None], on_lost: Callable[["Connection"], None]
    ) -> None:
        self.closed = False
        self.peer = ""
        self.carried = 0
        self.written = False
        self.idle_since = 0.0
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._clock = clock
        self._on_open = on_open
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._beneath: asyncio.Transport | None = None
        self._poll: select.poll | None = None
        self._tls = False
        self._tuned = False
        self._paused = False
        self._unwritten: memoryview | None = None
        self._held_back = 0
        self._suspended_s = 0.0
        self._asks_again: asyncio.TimerHandle | None = None
        self._writing = False
        self._moved_at = 0.0
        self._reader: AnswerReader | None = None
        self._limits: Limits | None = None
        self._done: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = 0.0

    def carry(self, head: bytes, body: bytes, reader: AnswerReader, limits: Limits) -> asyncio.Future[None]:
        """Write a request now and hand its answer to `reader`; done when `reader` has ended.

        Cancelling the future says that nobody listens any more; `abort` is then the caller's to call.
        """
        self.carried += 1
        self.written = False
        self._reader = reader
        self._limits = limits
        done = self._done = self._loop.create_future()
        self._moved_at = now = self._clock.monotonic()
        if limits.linger_reset or self._tuned:
            self._tuned = limits.linger_reset
            kernel.tune(self.sock, limits, now)
        self._writing = True
        self._held_back = 0 if len(head) + len(body) <= AT_ONCE else HELD_BACK
        self._suspended_s = kernel.suspended_s() if self._held_back else 0.0
        self._write_piece(memoryview(head + body))
        self._write()
        if not done.done():
            self._wake_at(self._due()[0])
        return done

    def stale(self) -> bool:
        """Whether the peer closed it, or sent something nobody asked for, as far as the kernel knows by now.

        A loop that was busy has not told us yet. Under TLS only an idle connection may be asked: a young one has
        session tickets to read.
        """
        seen = 0 if self.closed else self._seen()
        if seen & select.POLLIN and not self._tls and surplus.has_unread(self.sock):
            surplus.tell(self.peer)
        return self.closed or seen != 0

    def fit_to_send(self) -> bool:
        """Whether the first byte may be written, the connection having been in hand for a while."""
        if self._tls and self.carried == 0:
            return not self.closed and not self._seen() & ~select.POLLIN
        return not self.stale()

    def abort(self, fault: Fault = Fault.ABORTED, detail: str = "we closed the connection") -> None:
        """Close without a farewell; what is still to be written is dropped, and who listens learns why."""
        self.closed = True
        if self._reader is not None:
            self._reader.fail(fault, detail)
            self._end()
        if self._transport is not None:
            self._transport.abort()

    def give_up(self) -> None:
        """Close a connection that its maker gets no hold of: its loop may never say that it was lost."""
        self.abort()
        self._gone()

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # By duck-typing only: uvloop's transports are no asyncio.Transport.
        self._transport = self._beneath = cast("asyncio.Transport", transport)
        # Paused shall mean: not all of it is with the kernel. It also has uvloop write at once, and not when its turn ends.
        self._beneath.set_write_buffer_limits(high=0, low=0)
        self._on_open(self)

    def made_secure(self, transport: asyncio.Transport, beneath: asyncio.Transport) -> None:
        """The same where it goes through TLS, which is through with its handshake. The loop tells of `beneath` only."""
        self.connection_made(beneath)
        self._tls = True
        self._transport = transport
        # TLS pauses at `high`, not above it.
        transport.set_write_buffer_limits(high=1, low=0)

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            # Nobody asked. A stray 200 or 408 must never become the next write's result.
            if not self.closed:
                surplus.tell(self.peer)
            self.abort()
            return
        self._hear(reader, data)
        if reader.ended:
            self._end()
        elif reader.phase >= Phase.HEADERS:
            self._moved_at = self._clock.monotonic()
            if self._writing and reader.status >= 400:
                # It has heard enough; what it says is worth more than what we still had to say.
                self._writing = False

    def eof_received(self) -> None:
        self.closed = True
        if self._reader is not None:
            self._reader.peer_closed()
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        if self._reader is not None:
            if exc is None:
                self._reader.peer_closed()
            elif is_client_refused(exc):
                self._reader.fail(Fault.TLS_CLIENT_REFUSED, "the peer's TLS refused our certificate or the lack of one")
            else:
                self._hear_last_words(self._reader)
                self._reader.fail(Fault.RESET, "the connection broke")
            self._end()
        self._gone()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._writing:
            self._moved_at = self._clock.monotonic()
            self._write()

    def _seen(self) -> int:
        """What the kernel knows of the socket: bytes to read, a close, an error."""
        if self._poll is None:
            self._poll = kernel.poll_of(self.sock)
        return sum(events for _, events in self._poll.poll(0))

    def _hear(self, reader: AnswerReader, data: bytes) -> None:
        """Of a longer request, see at the answer's head if it had arrived: what brings an answer acknowledges what it answers."""
        begun = not self._held_back or reader.phase >= Phase.HEADERS
        reader.feed(data)
        if not begun and reader.phase >= Phase.HEADERS:
            reader.early = not self.written or kernel.on_its_way(self.sock, self._beneath) > 0

    def _hear_last_words(self, reader: AnswerReader) -> None:
        """Read what had come when a write failed: an early 413 and then a reset. The loop leaves it unread."""
        while not self._tls and not reader.ended and (data := kernel.rest_of(self.sock, SLICE)):
            self._hear(reader, data)

    def _gone(self) -> None:
        self._transport = self._beneath = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._on_lost(self)
        if not self.lost.done():
            self.lost.set_result(None)

    # One exchange.

    def _write(self) -> None:
        """Write as much of the rest as the kernel takes.

        The last bytes go out only in time, and when no more is on its way than arrives in time. A process that is stopped for longer
        goes on with what the loop has still to write, before it looks at any timer, and its kernel with what that has, while the
        process stands: another may have found that nothing was done, and done it.
        """
        while self._limits is not None and self._writing and not self._paused:
            if not self._unwritten:
                self._writing = False
                self._unwritten = None
                self.written = True
            elif (left_s := self._left_s(self._limits.ends_at)) <= 0:
                self.abort(Fault.WRITE_TIMEOUT, "the attempt was over before the request was written")
            elif len(self._unwritten) > self._held_back or kernel.carries(
                self._held_back, left_s, self.sock, self._beneath
            ):
                self._write_piece(self._unwritten)
            else:
                self._asks_again = self._loop.call_later(_ASKS_AGAIN_S, self._write)
                return

    def _left_s(self, ends_at: float) -> float:
        """Until the attempt is over, for those, too, for whom time went on while this machine was suspended."""
        missed_s = kernel.suspended_s() - self._suspended_s if self._held_back else 0.0
        return ends_at - self._clock.monotonic() - missed_s

    def _write_piece(self, rest: memoryview) -> None:
        size = len(rest) if len(rest) <= self._held_back else min(SLICE, len(rest) - self._held_back)
        self._unwritten = rest[size:]
        self._moved_at = self._clock.monotonic()
        if self._transport is not None:
            self._transport.write(rest[:size])

    def _due(self) -> tuple[float, Fault, str]:
        """When this exchange is over if nothing more happens, and what it is then called."""
        limits = self._limits
        assert limits is not None  # noqa: S101  # set with the reader
        if self._writing:
            due, fault, detail = self._moved_at + limits.write_s, Fault.WRITE_TIMEOUT, "the peer did not read in time"
        else:
            silence = limits.read_s if limits.read_s is not None else float("inf")
            due, fault, detail = self._moved_at + silence, Fault.READ_TIMEOUT, "no more of the answer came in time"
        return min(due, limits.ends_at), fault, detail

    def _expire(self) -> None:
        self._timer = None
        if self._reader is None:
            return
        due, fault, detail = self._due()
        now = self._clock.monotonic()
        if now < due:
            self._wake_at(max(due, now + _TICK_S))
        else:
            self.abort(fault, detail)

    def _wake_at(self, due: float) -> None:
        """Look again by then. The timer of an earlier exchange does as well: it looks at what is due when it rings."""
        if self._timer is not None:
            if self._rings_at <= due:
                return
            self._timer.cancel()
        self._rings_at = due
        self._timer = self._loop.call_at(due, self._expire)

    def _end(self) -> None:
        reader, self._reader = self._reader, None
        early = reader is not None and (reader.early or not self.written)
        if reader is not None and early and reader.phase >= Phase.HEADERS and reader.status < 400:
            # However it ended: it was said before what was asked for had arrived, of which a part may never have.
            reader.disown("the answer came before the request had arrived")
        self._writing = False
        self._unwritten = None
        if self._asks_again is not None:
            self._asks_again.cancel()
        done, self._done = self._done, None
        if done is not None and not done.done():
            done.set_result(None)
