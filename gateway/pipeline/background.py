"""What runs beside calls for as long as the process does, and must not end before it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from gateway.clock import Clock
from gateway.pipeline.parts import Faults

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
        self._ended = False

    def begin(self, name: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run it until `end`, or until it returns; not at all after `end`. `name` is for the log."""
        if not self._ended:
            self._tasks.append(asyncio.create_task(self._kept(name, run)))

    async def end(self) -> None:
        """Cancel all, and wait until they have ended."""
        self._ended = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

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
