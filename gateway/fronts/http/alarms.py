"""Timers of one length that are set for every request and hardly ever ring."""

import asyncio
from collections import deque
from collections.abc import Callable


class Alarm:
    """One of them. `rung`: it was not cancelled in time."""

    __slots__ = ("_ring", "due", "rung")

    def __init__(self, due: float, ring: Callable[[], object]) -> None:
        self.due = due
        self.rung = False
        self._ring: Callable[[], object] | None = ring

    @property
    def is_set(self) -> bool:
        """Whether it may still ring."""
        return self._ring is not None

    def cancel(self) -> None:
        """Never ring; of no effect once it has."""
        self._ring = None

    def ring(self) -> None:
        """Called by `Alarms`."""
        if self._ring is not None:
            self.rung = True
            ring, self._ring = self._ring, None
            ring()


class Alarms:
    """Rings each alarm `after_s` after it was set: in the order of their setting, so that one timer of the loop's does for all.

    A timer of the loop's own costs as much as parsing the request. Belongs to one event loop.
    """

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._alarms: deque[Alarm] = deque()
        self._armed = False

    def __len__(self) -> int:
        """How many are kept, cancelled ones included."""
        return len(self._alarms)

    def set(self, ring: Callable[[], object]) -> Alarm:
        """A new alarm that calls `ring` unless it is cancelled first."""
        loop = asyncio.get_running_loop()
        alarms = self._alarms
        while alarms and not alarms[0].is_set:
            alarms.popleft()
        alarm = Alarm(loop.time() + self._after_s, ring)
        alarms.append(alarm)
        if not self._armed:
            self._arm(loop)
        return alarm

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        self._armed = True
        # uvloop's timers are whole milliseconds, rounded down: a little late is in time, early would spin.
        loop.call_later(max(0.0, self._alarms[0].due - loop.time()) + 0.001, self._ring_due, loop)

    def _ring_due(self, loop: asyncio.AbstractEventLoop) -> None:
        self._armed = False
        alarms, now = self._alarms, loop.time()
        while alarms and (alarms[0].due <= now or not alarms[0].is_set):
            alarms.popleft().ring()
        if alarms:
            self._arm(loop)
