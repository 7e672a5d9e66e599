"""Database connections, each on a thread of its own, so that a commit never keeps the event loop waiting."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, Protocol, TypeVar

_T = TypeVar("_T")
Value = str | int | float | bool | None


class Session(Protocol):
    """One connection to a database that speaks SQL with `?` for parameters."""

    locking: str
    """What follows a SELECT that must keep others from writing the row until the transaction ends."""

    def execute(self, statement: str, parameters: Sequence[Value] = ()) -> tuple[list[tuple[Any, ...]], int]:
        """Rows that came back, and how many were touched."""
        ...

    def run(self, work: Callable[["Session"], _T], *, writes: bool) -> _T:
        """One transaction around `work`: all of it, or nothing. What is read in it is of one moment.

        Raises:
            CheckpointsUnavailable: the database cannot be used now.
            CorruptLog: the database says that it is damaged.
        """
        ...

    def close(self) -> None:
        """End it."""
        ...


_S = TypeVar("_S", bound=Session)


class Sessions(Generic[_S]):
    """At most `size` sessions, opened when they are first needed, each used by one thread only."""

    def __init__(self, open_session: Callable[[], _S], size: int) -> None:
        if size < 1:
            raise ValueError("at least one connection")
        self._open_session = open_session
        self._size = size
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[_S], Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._waiting = 0
        self._closed = False

    async def run(self, work: Callable[[_S], _T]) -> _T:
        """Let a session's thread do `work`. Cancelling the wait does not undo what it does."""
        future: Future[_T] = Future()
        with self._lock:
            if self._closed:
                raise ValueError("the checkpoints are closed")
            self._waiting += 1
            if self._waiting > len(self._threads) and len(self._threads) < self._size:
                thread = threading.Thread(target=self._serve, name="checkpoints", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._work.put((future, work))
        return await asyncio.shield(asyncio.wrap_future(future))

    def close(self) -> None:
        """Let what has begun end, and close every session."""
        with self._lock:
            self._closed = True
            threads, self._threads = self._threads, []
        for _ in threads:
            self._work.put(None)
        for thread in threads:
            thread.join()

    def _serve(self) -> None:
        session: _S | None = None
        while (task := self._work.get()) is not None:
            future, work = task
            result: Any = None
            failure: BaseException | None = None
            try:
                session = session or self._open_session()
                result = work(session)
            except BaseException as raised:  # noqa: BLE001 - it is the waiter's to see
                failure = raised
            # Free before the waiter knows: it may come back at once, and must not open another session for that.
            with self._lock:
                self._waiting -= 1
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)
            # Nothing of the last task is kept while waiting for the next.
            del task, future, work, result, failure
        if session is not None:
            session.close()
