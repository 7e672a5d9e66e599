"""A clock that moves only when a test says so."""

import asyncio
import heapq
import itertools
import time

from gateway.adapters.system.clock import SystemClock
from tests.waiting import turns

# A sleeper that was woken may need several turns of the loop to reach its next wait.
_TURNS = 50
# 2 s and then 3 s must reach a sleeper of 5 s, whatever the rounding.
_ROUNDING_S = 1e-9


class ManualClock:
    """A `gateway.clock.Clock` under a test's hand.

    Time stands still until `advance`, which wakes sleepers in the order in which they fall due and lets each run
    to its next wait before the next is woken. Work in threads or sockets is not waited for: wait for its own event.
    """

    def __init__(self, *, monotonic: float = 1_000.0, wall: float = 1_790_000_000.0) -> None:
        self._monotonic = monotonic
        self._wall_offset = wall - monotonic
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._arrivals = asyncio.Condition()

    def __repr__(self) -> str:
        """What a failed assertion should show."""
        return f"<ManualClock {self._monotonic:.3f} s, {self.sleeping} asleep>"

    def monotonic(self) -> float:
        """Seconds, as far as they were advanced."""
        return self._monotonic

    def wall(self) -> float:
        """Seconds since 1970, which `step_wall` moves as well."""
        return self._monotonic + self._wall_offset

    async def sleep(self, seconds: float) -> None:
        """Wait until `advance` has let `seconds` pass; nothing or less is one turn of the loop."""
        if seconds <= 0:
            await turns()
            return
        due = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._monotonic + seconds, next(self._order), due))
        async with self._arrivals:
            self._arrivals.notify_all()
        await due

    @property
    def sleeping(self) -> int:
        """How many wait now; a cancelled sleeper is none."""
        return sum(not due.done() for _, _, due in self._sleepers)

    async def sleepers(self, count: int) -> None:
        """Wait until `count` or more are asleep, so that `advance` cannot come too early."""
        async with self._arrivals:
            await self._arrivals.wait_for(lambda: self.sleeping >= count)

    async def advance(self, seconds: float) -> None:
        """Let `seconds` pass, waking whoever falls due on the way, each at its own moment."""
        await self.settle()
        target = self._monotonic + seconds
        while self._sleepers and self._sleepers[0][0] <= target + _ROUNDING_S:
            at, _, due = heapq.heappop(self._sleepers)
            if due.done():
                continue
            self._monotonic = max(self._monotonic, at)
            due.set_result(None)
            await self.settle()
        self._monotonic = max(self._monotonic, target)

    def step_wall(self, seconds: float) -> None:
        """Move the wall clock alone, as an operator or NTP does; negative is back."""
        self._wall_offset += seconds

    async def settle(self) -> None:
        """Let everything that can run now run to its next wait."""
        await turns(_TURNS)


class AheadClock(SystemClock):
    """The machine's clock, and what a test adds to it: work that takes long takes no time."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def monotonic(self) -> float:
        """Seconds, as far as they have passed or were added."""
        return time.monotonic() + self.ahead_s
