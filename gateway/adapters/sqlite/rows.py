"""Execution rows that need no transaction of their own: they wait a little for one another, then share one."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import apsw

from gateway.adapters.sqlite.changes import append_rows
from gateway.adapters.sqlite.writer import Writer
from gateway.stages.execute.operation.ports import StoreUnavailableError

# With the commit itself, durable within the 50 ms that the store promises.
_WAIT_S: Final = 0.025
_MAX_WAITING: Final = 20_000


class RowBuffer:
    """Rows accepted but not yet durable: what a SIGKILL may lose."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._rows: list[tuple[Any, ...]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flush: asyncio.Future[Any] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Accept encoded rows.

        Raises:
            StoreUnavailableError: too many wait already, because none could be written for long.
        """
        if len(self._rows) + len(rows) > _MAX_WAITING:
            raise StoreUnavailableError(f"{len(self._rows)} execution rows wait to be written")
        self._rows.extend(rows)
        self._arm()

    async def flush(self) -> None:
        """Make every accepted row durable, including those on their way.

        Raises:
            StoreUnavailableError: it could not be done; the rows wait on.
        """
        if self._flush is not None:
            await asyncio.wait([self._flush])
        if self._rows:
            await self._begin()

    def _arm(self) -> None:
        if self._rows and self._timer is None and self._flush is None:
            self._timer = asyncio.get_running_loop().call_later(_WAIT_S, self._begin)

    def _begin(self) -> asyncio.Future[Any]:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        rows, self._rows = self._rows, []

        def work(connection: apsw.Connection) -> None:
            append_rows(connection, rows)

        self._flush = self._writer.submit(work)
        self._flush.add_done_callback(lambda done: self._ended(done, rows))
        return self._flush

    def _ended(self, flush: asyncio.Future[Any], rows: list[tuple[Any, ...]]) -> None:
        self._flush = None
        if flush.cancelled() or flush.exception() is not None:
            self._rows[:0] = rows
        self._arm()
