"""How a test waits: for an event wherever there is one, and through these where there is none."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Final

PATIENCE_S: Final = 30.0
"""No wait of a test lasts longer: one that hangs fails instead. Far more than a busy machine needs."""
_EVERY_S: Final = 0.002


async def eventually(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Ask again and again until `condition` holds: for what stands in a store or a kernel, and for what time brings.

    Raises:
        TimeoutError: it does not within `PATIENCE_S`.
    """
    async with asyncio.timeout(PATIENCE_S):
        while not await _holds(condition):  # noqa: ASYNC110 - nothing to wait for
            await asyncio.sleep(_EVERY_S)


async def turns(count: int = 1) -> None:
    """Let everything that can run now run: this many turns of the loop, in which no time need pass."""
    for _ in range(count):
        await asyncio.sleep(0)


async def _holds(condition: Callable[[], bool | Awaitable[bool]]) -> bool:
    answer = condition()
    return await answer if inspect.isawaitable(answer) else answer
