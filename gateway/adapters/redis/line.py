"""One connection that many questions share: each goes out with what else is asked in the same turn of the loop.

Answers come back in the order of the questions. Whoever leaves takes nothing from the others: the answer comes all the
same, and nobody hears it. A question that is not answered in its time ends the line, and with it every question behind
it; these may have been carried out, and are asked again by whoever asked.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import hiredis
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import InvalidResponse

from gateway.adapters.redis.limit import LATE_S


class Line(asyncio.Protocol):
    """Takes over the transport of a connection that has been greeted. Belongs to one event loop.

    Attributes:
        memory: the replication id of the server behind it.
        is_open: whether it may be asked.
    """

    def __init__(
        self, transport: Any, *, memory: str, error_of: Callable[[str], Exception], ended: Callable[[], None]
    ) -> None:
        """Take it over: everything that the greeting was answered with has been read.

        Args:
            error_of: the library's error for what the server says in place of an answer.
            ended: called once, when the line ends.
        """
        self.memory = memory
        self._tell_ended = ended
        self._loop = asyncio.get_running_loop()
        self._answers: Any = hiredis.Reader(protocolError=InvalidResponse, replyError=error_of)
        self._waiting: deque[tuple[asyncio.Future[Any], float]] = deque()
        self._out: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        self._spared: asyncio.Future[Any] | None = None
        self.is_open = True
        self._transport = transport
        transport.set_protocol(self)
        if transport.is_closing():
            self._end(lambda: NotConnectedError("closed"))

    def __repr__(self) -> str:
        return f"<Line {self.memory[:8]} {f'{len(self._waiting)} waiting' if self.is_open else 'ended'}>"

    @property
    def waiting(self) -> int:
        """Questions that have no answer yet."""
        return len(self._waiting)

    def ask(self, command: bytes, within_s: float) -> "asyncio.Future[Any]":
        """The reply to a packed command, or the error that it is.

        Raises:
            NotConnectedError: the line has ended; also as the future's, and then it may have been carried out.
            TimeoutError: as the future's: there was no reply within `within_s` seconds.
        """
        if not self.is_open:
            raise NotConnectedError("the line has ended")
        future: asyncio.Future[Any] = self._loop.create_future()
        due = self._loop.time() + within_s
        self._waiting.append((future, due))
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(command)
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._over, due)
        return future

    def close(self) -> None:
        """End it: whoever waits is told."""
        self._end(lambda: NotConnectedError("the line was closed"))

    def data_received(self, data: bytes) -> None:
        """Hand out what came back."""
        try:
            self._answers.feed(data)
            while self._waiting and (reply := self._answers.gets()) is not False:
                future, _ = self._waiting.popleft()
                if not future.done():
                    if isinstance(reply, Exception):
                        future.set_exception(reply)
                    else:
                        future.set_result(reply)
        except InvalidResponse as error:
            text = f"Protocol error: {error}"
            self._end(lambda: InvalidResponse(text))
            return
        if not self._waiting and self._answers.has_data():
            # Which question it answers cannot be told, so the answers that follow cannot be told apart either.
            self._end(lambda: NotConnectedError("an answer came that nobody had asked for"))

    def connection_lost(self, error: Exception | None) -> None:
        """Tell everybody who waits."""
        self._end(lambda: NotConnectedError(f"the connection was lost: {error or 'closed by the server'}"))

    def _flush(self) -> None:
        out, self._out = self._out, []
        if out and self.is_open:
            self._transport.write(out[0] if len(out) == 1 else b"".join(out))

    def _over(self, due: float) -> None:
        self._timer = None
        if not self._waiting:
            return
        now, (future, until) = self._loop.time(), self._waiting[0]
        if until > now:
            due = until
        elif now - due > LATE_S and self._spared is not future:
            # The answer may lie in the socket: this process was slow, not the server.
            self._spared = future
            due = now + LATE_S
        else:
            if not future.done():
                future.set_exception(TimeoutError())
            self._end(lambda: NotConnectedError("the line was given up"))
            return
        self._timer = self._loop.call_at(due, self._over, due)

    def _end(self, why: Callable[[], Exception]) -> None:
        if not self.is_open:
            return
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._transport.abort()
        self._tell_ended()
        waiting, self._waiting, self._out = self._waiting, deque(), []
        for future, _ in waiting:
            if not future.done():
                future.set_exception(why())
