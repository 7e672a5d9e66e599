"""What runs beside calls for as long as the process does, and must not end before it."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, Final

from gateway.clock import Clock
from gateway.pipeline.spool import Faults

PAUSE_S: Final = 1.0
"""Between a fault and the next beginning."""


class Background:
    """Keeps its tasks going: what raises, or is cancelled by anybody else, is told as a fault and begun again.

    A gateway whose sweeper has ended answers every call and settles nothing that is in doubt.
    """

    def __init__(self, clock: Clock, faults: Faults) -> None:
        self._clock = clock
        self._faults = faults
        self._tasks: list[asyncio.Task[None]] = []

    def __len__(self) -> int:
        """How many are under way."""
        return sum(not task.done() for task in self._tasks)

    def begin(self, name: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run it until `end`, or until it returns. `name` is for the log."""
        self._tasks.append(asyncio.create_task(self._kept(name, run)))

    async def end(self) -> None:
        """Cancel all, and wait until they have ended."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _kept(self, name: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            try:
                await run()
            except asyncio.CancelledError as stray:
                if _told_to_end():
                    raise
                self._faults(name, stray)
            except Exception as fault:  # noqa: BLE001 - the last guard of a task that nobody waits for
                self._faults(name, fault)
            else:
                return
            await self._clock.sleep(PAUSE_S)


def _told_to_end() -> bool:
    """Whether this task was cancelled, and not something that it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
