"""A time limit that does not mistake this process's own slowness for the server's.

A loop that was busy sees an answer and the end of the time for it in the same turn, and `asyncio.timeout` then takes
the answer for missing. Here the time ends only in a turn that came in time: otherwise it is given once more.
"""

import asyncio
from types import TracebackType
from typing import Final, Self

LATE_S: Final = 0.05
"""A turn that comes so much later than it was due shows a loop that was busy."""


class Limit:
    """`async with Limit(seconds)`: what is inside ends by then, with TimeoutError."""

    __slots__ = ("_again", "_cancels", "_expired", "_handle", "_loop", "_seconds", "_task")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._again = True
        self._expired = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a limit is for a task")
        self._task = task
        self._cancels = task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._handle = self._loop.call_later(self._seconds, self._over, self._loop.time() + self._seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.cancel()
        if self._expired and self._task.uncancel() <= self._cancels and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _over(self, due: float) -> None:
        if self._again and self._loop.time() - due > LATE_S:
            self._again = False
            self._handle = self._loop.call_later(self._seconds, self._over, self._loop.time() + self._seconds)
            return
        self._expired = True
        self._task.cancel()
