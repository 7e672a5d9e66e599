"""The connections to one origin: at most so many in use, the youngest first, and every slot comes back."""

import asyncio
from collections import deque
from typing import Final

from gateway.adapters.http_tool.connection import Connection
from gateway.adapters.http_tool.origin import Origin
from gateway.adapters.http_tool.progress import Failed
from gateway.clock import Clock
from gateway.stages.execute.attempt.exchange import Fault

IDLE_S: Final = 4.0
"""Shorter than the keep-alive of common servers (uvicorn and Node: 5 s), so that we close first."""

Granted = Connection | None
"""A connection to use, or None: the right to open one."""


class Pool:
    """Hands out slots. A slot is taken by `acquire` and given back by `put` or `free`, exactly once.

    Calls with `reserved` have one slot more than the bound and a queue of their own.
    """

    def __init__(self, origin: Origin, clock: Clock, *, limit: int) -> None:
        self._origin = origin
        self._clock = clock
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._active = 0
        self._idle: list[Connection] = []
        self._waiting: dict[bool, deque[_Waiter]] = {True: deque(), False: deque()}
        self._sweep_timer: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        """What a failed assertion or a log at night should show."""
        waiting = sum(len(queue) for queue in self._waiting.values())
        return f"<Pool {self._origin} {self._active} active, {len(self._idle)} idle, {waiting} waiting>"

    @property
    def has_idle(self) -> bool:
        """Whether a slot and a connection for it are there now."""
        return bool(self._idle) and self._active < self._limit

    async def acquire(self, *, until: float, fresh: bool = False, reserved: bool = False) -> Granted:
        """A slot, with an idle connection if there is one and `fresh` does not forbid it.

        Raises:
            Failed: POOL_TIMEOUT when none was free by `until` (the loop's clock); ABORTED by `reset`.
        """
        if self._active < self._bound(reserved=reserved):
            return self._grant(fresh=fresh)
        waiter = _Waiter(self._loop.create_future(), fresh)
        queue = self._waiting[reserved]
        queue.append(waiter)
        timer = self._loop.call_at(until, waiter.refuse, Fault.POOL_TIMEOUT, "no connection became free in time")
        try:
            return await waiter.granted
        except asyncio.CancelledError:
            # Granted and cancelled in the same turn of the loop: nobody else would give it back.
            if waiter.granted.done() and not waiter.granted.cancelled() and waiter.granted.exception() is None:
                self._give_back(waiter.granted.result())
            raise
        finally:
            timer.cancel()
            if waiter in queue:
                queue.remove(waiter)

    def put(self, connection: Connection, *, reusable: bool) -> None:
        """Give a slot back with its connection, which is kept or closed."""
        if reusable and not connection.closed:
            connection.idle_since = self._clock.monotonic()
            self._idle.append(connection)
            if self._sweep_timer is None:
                self._sweep_timer = self._loop.call_at(connection.idle_since + IDLE_S, self._sweep)
        else:
            connection.abort()
        self.free()

    def free(self) -> None:
        """Give a slot back for which no connection was opened."""
        self._active -= 1
        for reserved, queue in self._waiting.items():
            while queue and self._active < self._bound(reserved=reserved):
                waiter = queue.popleft()
                if not waiter.granted.done():
                    waiter.granted.set_result(self._grant(fresh=waiter.fresh))

    def forget(self, connection: Connection) -> None:
        """A connection died; if it was idle it is not any more."""
        if connection in self._idle:
            self._idle.remove(connection)

    def reset(self) -> None:
        """Close what is idle and turn away who waits."""
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        for queue in self._waiting.values():
            while queue:
                queue.popleft().refuse(Fault.ABORTED, "the transport was reset")
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.abort()

    def _bound(self, *, reserved: bool) -> int:
        return self._limit + reserved

    def _grant(self, *, fresh: bool) -> Granted:
        self._active += 1
        expired = self._clock.monotonic() - IDLE_S
        while self._idle and not fresh:
            connection = self._idle.pop()
            if connection.idle_since > expired and not connection.stale():
                return connection
            connection.abort()
        if self._idle and self._active + len(self._idle) > self._limit:
            # Only `fresh` comes here: the new one takes the place of the oldest.
            self._idle.pop(0).abort()
        return None

    def _give_back(self, granted: Granted) -> None:
        if granted is None:
            self.free()
        else:
            self.put(granted, reusable=True)

    def _sweep(self) -> None:
        expired = self._clock.monotonic() - IDLE_S
        # Put back in order, so the oldest are in front.
        while self._idle and self._idle[0].idle_since <= expired:
            self._idle.pop(0).abort()
        self._sweep_timer = self._loop.call_at(self._idle[0].idle_since + IDLE_S, self._sweep) if self._idle else None


class _Waiter:
    __slots__ = ("fresh", "granted")

    def __init__(self, granted: asyncio.Future[Granted], fresh: bool) -> None:  # noqa: FBT001
        self.granted = granted
        self.fresh = fresh

    def refuse(self, fault: Fault, detail: str) -> None:
        if not self.granted.done():
            self.granted.set_exception(Failed(fault, detail))
