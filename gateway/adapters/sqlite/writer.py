"""Group commit: statements run on the loop, COMMIT on one thread, and whatever came meanwhile is the next batch.

A batch is never left open across a turn of the loop: it is begun, filled and handed to the committer in one callback,
so a change either sees an earlier change whole and durable, or stands in the same batch behind it. Nothing is
answered before COMMIT, not even *stale*: what made it stale might not be durable yet.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final

import apsw

from gateway.contract.quick import quick
from gateway.stages.execute.operation.ports import StoreUnavailableError

# Bounds how long one batch keeps the loop: some 40 us of statements a job.
_MAX_BATCH: Final = 128
CHUNK: Final = 500
"""Rows that one job deletes or buries at most. Bounds how long one transaction keeps the loop."""
# uvloop's timers are whole milliseconds: a shorter one fires at once and spins.
_RETRY_S: Final = 0.001

Work = Callable[[apsw.Connection], Any]


@quick
@dataclass(frozen=True, slots=True)
class _Job:
    work: Work
    done: asyncio.Future[Any]
    give_up_at: float


@quick
@dataclass(frozen=True, slots=True)
class _Batch:
    jobs: list[_Job]
    results: list[Any]
    loop: asyncio.AbstractEventLoop


class Writer:
    """The one write connection of a process. All methods belong to one event loop.

    Attributes:
        commits: how many COMMITs have been made durable.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        *,
        wait_s: float,
        stamp: Callable[[apsw.Connection], None],
        usable: Callable[[], None] = lambda: None,
        durable: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the thread.

        Args:
            wait_s: how long a job may wait for another process's write.
            stamp: runs at the end of each batch, in its transaction.
            usable: asked before each batch; what it raises, a StoreUnavailableError, everyone is told who waits.
            durable: told after each batch that is.
        """
        self.commits = 0
        self._usable = usable
        self._durable = durable
        self._connection = connection
        self._wait_s = wait_s
        self._stamp = stamp
        self._waiting: deque[_Job] = deque()
        self._busy = False
        self._idle = asyncio.Event()
        self._closed = False
        self._batches: SimpleQueue[_Batch | None] = SimpleQueue()
        self._committer = threading.Thread(target=self._commit_batches, name="oncegate-commit", daemon=True)
        self._committer.start()

    def __repr__(self) -> str:
        return f"<Writer {self.commits} commits, {len(self._waiting)} waiting{', closed' if self._closed else ''}>"

    def submit(self, work: Work) -> asyncio.Future[Any]:
        """Run `work` inside a transaction; the future has its result once that is durable.

        Once accepted, `work` is carried out whether or not anybody still awaits the future; it may run more than once,
        each time in a transaction that knows nothing of the earlier ones. When it raises, nothing of it is kept and
        nobody else's work suffers. The future raises StoreUnavailableError when the transaction could not be made;
        after a failed COMMIT it is possible that it was.
        """
        if self._closed:
            raise StoreUnavailableError("the store is closed")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        self._waiting.append(_Job(work, done, loop.time() + self._wait_s))
        if not self._busy:
            self._busy = True
            self._idle.clear()
            # Not at once: what else this turn of the loop brings belongs into the same batch.
            loop.call_soon(self._begin)
        return done

    async def close(self) -> None:
        """Carry out what was accepted, then stop the thread. The connection stays open."""
        self._closed = True
        if self._busy:
            await self._idle.wait()
        self._batches.put(None)
        self._committer.join()

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._usable()
            self._connection.execute("BEGIN IMMEDIATE")
        except (apsw.BusyError, apsw.LockedError):
            self._let_go_of_late(loop.time())
            if self._waiting:
                loop.call_later(_RETRY_S, self._begin)
            else:
                self._rest()
            return
        except (apsw.Error, StoreUnavailableError) as error:
            self._fail([*self._waiting], error)
            self._waiting.clear()
            self._rest()
            return
        self._fill(loop)

    def _fill(self, loop: asyncio.AbstractEventLoop) -> None:
        jobs = [self._waiting.popleft() for _ in range(min(_MAX_BATCH, len(self._waiting)))]
        results: list[Any] = []
        try:
            for job in jobs:
                results.append(job.work(self._connection))  # noqa: PERF401 - their number tells which one failed
            self._stamp(self._connection)
        except apsw.Error as error:
            self._fail(jobs, error)
            self._next()
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, and the loop must go on
            # The job's own fault, not the file's: the others begin again without it.
            culprit = min(len(results), len(jobs) - 1)
            self._waiting.extendleft(reversed(jobs[:culprit] + jobs[culprit + 1 :]))
            self._fail(jobs[culprit : culprit + 1], error)
            self._next()
        else:
            self._batches.put(_Batch(jobs, results, loop))

    def _commit_batches(self) -> None:
        while (batch := self._batches.get()) is not None:
            error: apsw.Error | None = None
            try:
                self._connection.execute("COMMIT")
            except apsw.Error as raised:
                error = raised
            try:
                batch.loop.call_soon_threadsafe(self._committed, batch, error)
            except RuntimeError:
                return  # the loop is closed: nobody is left to hear

    def _committed(self, batch: _Batch, error: apsw.Error | None) -> None:
        if error is not None:
            self._fail(batch.jobs, error)
        else:
            self.commits += 1
            self._durable()
            for job, result in zip(batch.jobs, batch.results, strict=True):
                if not job.done.done():
                    job.done.set_result(result)
        self._next()

    def _next(self) -> None:
        if self._waiting:
            self._begin()
        else:
            self._rest()

    def _rest(self) -> None:
        self._busy = False
        self._idle.set()

    def _let_go_of_late(self, now: float) -> None:
        late = [job for job in self._waiting if now >= job.give_up_at]
        if late:
            self._waiting = deque(job for job in self._waiting if now < job.give_up_at)
            for job in late:
                _refuse(job, StoreUnavailableError(f"another process has been writing for {self._wait_s} s"))

    def _fail(self, jobs: list[_Job], error: Exception) -> None:
        if self._connection.in_transaction:
            # Where it cannot be ended now, the next batch does not begin, and it is tried again.
            with contextlib.suppress(apsw.Error):
                self._connection.execute("ROLLBACK")
        for job in jobs:
            _refuse(job, _told_as(error))


def _told_as(error: Exception) -> StoreUnavailableError:
    if isinstance(error, StoreUnavailableError):
        return error
    refusal = StoreUnavailableError(f"{type(error).__name__}: {error}")
    refusal.__cause__ = error
    return refusal


def _refuse(job: _Job, refusal: StoreUnavailableError) -> None:
    if not job.done.done():
        job.done.set_exception(refusal)
        # The exception belongs to whoever awaits; if that one was cancelled there is nobody to reproach.
        job.done.exception()
