"""Messages into a pipe, none of which is completed after its time.

A stream's buffer is written out whenever the pipe has room, before the timers run that were to prevent it: by a gateway that
was stopped and continued, long after another has proved that nothing was done. Here the kernel takes what it takes at once,
the rest stays with us, and the clock is asked before each piece. What the kernel has is not what the reader has, so the
pipe can be asked how much of it lies there unread (Linux; elsewhere all of it counts as read).
"""

import array
import asyncio
import fcntl
import math
import os
import select
import termios
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakSet


@dataclass(slots=True, kw_only=True)
class _Waiting:
    rest: memoryview
    begin_by: float
    until: float
    late: "asyncio.Future[bool]"
    begun: bool = False


class PipeWriter:
    """The write end of a pipe, which it owns. Messages go out whole and in order.

    Attributes:
        waiting: bytes that the kernel has not taken yet.
    """

    def __init__(self, pipe: int, *, give_up: Callable[[], None], now: Callable[[], float]) -> None:
        """`give_up` is called when half a message is in the pipe and the rest may not follow; `now` in seconds."""
        os.set_blocking(pipe, False)
        self.waiting = 0
        self._pipe = pipe
        self._give_up = give_up
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._queue: deque[_Waiting] = deque()
        self._taken = 0
        self._ends: WeakKeyDictionary[asyncio.Future[bool], int] = WeakKeyDictionary()
        self._unsent: WeakSet[asyncio.Future[bool]] = WeakSet()
        self._watched = False
        self._ending = False
        self._closed = False

    def write(self, message: bytes, *, begin_by: float = math.inf, until: float = math.inf) -> "asyncio.Future[bool]":
        """Write it at once if nothing waits, else behind what does: not its first byte at or after `begin_by`, and not its
        last at or after `until`.

        Returns:
            Done when there is nothing more to write: true when that is because its time had passed. False also when it
            has become pointless: the reader is gone, or `abandon` was called.
        """
        late: asyncio.Future[bool] = self._loop.create_future()
        if self._ending or self._closed:
            self._unsent.add(late)
            late.set_result(False)
            return late
        begin_by = min(begin_by, until)
        self._queue.append(_Waiting(rest=memoryview(message), begin_by=begin_by, until=until, late=late))
        self.waiting += len(message)
        if len(self._queue) == 1:
            self._flush()
        return late

    @property
    def read(self) -> int:
        """Bytes that the reader has taken out of the pipe since its beginning. A closed one cannot be asked: all of them."""
        return self._taken if self._closed else self._taken - _unread(self._pipe)

    def end_of(self, late: "asyncio.Future[bool]") -> int | None:
        """Where in the pipe the message ends that `write` returned this for: what `read` is when all of it was read.

        None for one that is not in there as a whole.
        """
        return self._ends.get(late)

    def unsent(self, late: "asyncio.Future[bool]") -> bool:
        """Whether the message that `write` returned this for was dropped with the pipe before its first byte was in there."""
        return (self._closed or self._ending) and late in self._unsent

    def close(self) -> None:
        """Take no more messages, and end the reader's input behind those that wait."""
        self._ending = True
        if not self._queue:
            self.abandon()

    def abandon(self) -> None:
        """Write nothing more, and close the pipe."""
        if self._closed:
            return
        self._closed = True
        self._watch(False)
        os.close(self._pipe)
        while self._queue:
            if not self._queue[0].begun:
                self._unsent.add(self._queue[0].late)
            self._done(late=False)

    def _flush(self) -> None:
        while self._queue:
            head = self._queue[0]
            if self._now() >= (head.until if head.begun else head.begin_by):
                self._done(late=True)
                if head.begun:
                    # Whatever came behind it would be read as its rest.
                    self._give_up()
                    self.abandon()
                    return
                continue
            # The kernel takes this much whole or not at all. Without it all but the line's end might be in the pipe, and
            # the end of the input, which our death brings, would complete it.
            piece = head.rest if len(head.rest) <= select.PIPE_BUF else head.rest[: -select.PIPE_BUF]
            try:
                taken = os.write(self._pipe, piece)
            except BlockingIOError:
                break
            except OSError:
                self.abandon()
                return
            head.begun = True
            head.rest = head.rest[taken:]
            self.waiting -= taken
            self._taken += taken
            if not head.rest:
                self._ends[head.late] = self._taken
                self._done(late=False)
            elif taken < len(piece):
                break
        self._watch(bool(self._queue))
        if self._ending and not self._queue:
            self.abandon()

    def _done(self, *, late: bool) -> None:
        head = self._queue.popleft()
        self.waiting -= len(head.rest)
        if not head.late.done():
            head.late.set_result(late)

    def _watch(self, watched: bool) -> None:  # noqa: FBT001 - a state, and its only argument
        if watched and not self._watched:
            self._loop.add_writer(self._pipe, self._flush)
        elif self._watched and not watched:
            self._loop.remove_writer(self._pipe)
        self._watched = watched


def _unread(pipe: int) -> int:
    """Bytes in the pipe."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(pipe, termios.FIONREAD, count)
    except OSError:
        return 0
    return count[0]
