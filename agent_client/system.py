"""The real clock and real chance: the only place of this package where either comes in."""

import asyncio
import random
import secrets
import time


class SystemClock:
    """An `agent_client.ports.Clock` on the operating system's clocks."""

    monotonic = staticmethod(time.monotonic)
    wall = staticmethod(time.time)
    sleep_blocking = staticmethod(time.sleep)
    """For the blocking faces: the calling thread waits."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SystemChance:
    """An `agent_client.ports.Chance`."""

    draw = staticmethod(random.random)

    def hex(self, digits: int) -> str:
        return secrets.token_hex((digits + 1) // 2)[:digits]
