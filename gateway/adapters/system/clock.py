"""The real clock."""

import asyncio
import time


class SystemClock:
    """A `gateway.clock.Clock` on the operating system's clocks."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
