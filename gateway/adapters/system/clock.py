"""The real clock."""

import asyncio
import time


class SystemClock:
    """A `gateway.clock.Clock` on the operating system's clocks."""

    # Called dozens of times a call: a function of C, not one of Python around it.
    monotonic = staticmethod(time.monotonic)
    wall = staticmethod(time.time)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
