"""Waiting on a clock that a test can hold."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from agent_client.ports import Clock

_T = TypeVar("_T")


async def within(clock: Clock, seconds: float, work: Awaitable[_T]) -> _T:
    """What `work` brings, if it takes no longer. Raises TimeoutError, and `work` is cancelled then.

    Only for what may be given up: an inference, a read. Never for a write.
    """
    task = asyncio.ensure_future(work)
    alarm = asyncio.ensure_future(clock.sleep(max(0.0, seconds)))
    try:
        await asyncio.wait({task, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise TimeoutError(f"no answer within {seconds:.1f} s")
        return task.result()
    finally:
        for each in (task, alarm):
            each.cancel()
        await asyncio.gather(task, alarm, return_exceptions=True)
