"""What goes on when whoever asked for it goes away, and what the gateway waits for before it stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class Detached:
    """Tasks of nobody's own."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """How many are under way."""
        return len(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Carry out `work`; nobody waits for what it returns."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def told(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What `work` returns or raises. Cancelling ends the wait and leaves the work alone, as `asyncio.shield` does at
        twice the price.
        """
        answer: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self.spawn(_tell(work, answer))
        return await answer

    async def ended(self, within_s: float | None = None) -> None:
        """Wait until none is left, those included that are begun meanwhile; or only for so long, and for the present ones."""
        if within_s is not None and self._tasks:
            await asyncio.wait(set(self._tasks), timeout=within_s)
        while within_s is None and self._tasks:
            await asyncio.wait(set(self._tasks))


async def _tell(work: Coroutine[Any, Any, _T], answer: asyncio.Future[_T]) -> None:
    try:
        result = await work
    except asyncio.CancelledError:
        answer.cancel()
        raise
    except Exception as error:
        if answer.done():
            raise
        answer.set_exception(error)
    else:
        if not answer.done():
            answer.set_result(result)
