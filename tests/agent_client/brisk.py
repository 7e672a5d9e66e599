"""A clock on which short waits are over at once, and chance that a test chooses."""

import asyncio
import itertools

from tests.waiting import turns


class BriskClock:
    """Waits of up to `longest_s` pass at once and are remembered; longer ones (the alarms) never end by themselves."""

    def __init__(self, longest_s: float = 10.0) -> None:
        self._now = 1_000.0
        self._longest_s = longest_s
        self.waits: list[float] = []

    def monotonic(self) -> float:
        """Seconds, as far as waits moved them."""
        return self._now

    def wall(self) -> float:
        """A wall clock that goes with it."""
        return self._now + 1_790_000_000.0

    async def sleep(self, seconds: float) -> None:
        """Pass at once, or never."""
        if seconds > self._longest_s:
            await asyncio.Event().wait()
        self.waits.append(seconds)
        self._now += seconds
        await turns()


class FixedChance:
    """Always the same draw; identifiers that count."""

    def __init__(self, draw: float = 1.0) -> None:
        self._draw = draw
        self._count = itertools.count(1)

    def draw(self) -> float:
        """The draw."""
        return self._draw

    def hex(self, digits: int) -> str:
        """The next number."""
        return f"{next(self._count):0{digits}x}"
