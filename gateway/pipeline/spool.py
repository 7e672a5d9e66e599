"""What must still be kept although the store was away when it was learned."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from gateway.clock import Clock
from gateway.pipeline.parts import Faults
from gateway.stages.execute.operation.ports import StoreUnavailableError

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0


class Spool:
    """Keeps trying. What is in it is lost only with the process; the record then ends as UNKNOWN, never as free."""

    def __init__(self, clock: Clock, faults: Faults) -> None:
        self._clock = clock
        self._faults = faults
        self._tasks: set[asyncio.Task[None]] = set()

    async def keep(self, keep: Callable[[], Awaitable[Any]]) -> bool:
        """Run `keep` now; with the store away, `later` (False). It must be safe to run again, as a record's moves are."""
        try:
            await keep()
        except StoreUnavailableError:
            self.later(keep)
            return False
        return True

    def later(self, keep: Callable[[], Awaitable[Any]]) -> None:
        """Run `keep` until the store takes it, beside what the caller is doing now."""
        task = asyncio.create_task(self._guarded(keep))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def fault(self, where: str, error: BaseException) -> None:
        """Something of our own raised; the caller is told only that."""
        self._faults(where, error)

    async def drained(self, within_s: float) -> bool:
        """Wait until nothing is left to keep. False: time ran out."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within_s)
        return not self._tasks

    async def _until_kept(self, keep: Callable[[], Awaitable[Any]]) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                await keep()
            except StoreUnavailableError:
                await self._clock.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            else:
                return

    async def _guarded(self, keep: Callable[[], Awaitable[Any]]) -> None:
        try:
            await self._until_kept(keep)
        except Exception as error:  # noqa: BLE001 - the last guard of a background task
            self._faults("spool", error)
