"""Execution rows that need no change of their own: they wait a little for one another, then go together."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from gateway.adapters.redis.memory import PIECE
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.operation.ports import StoreUnavailableError

# The store promises that rows are kept within 50 ms: this leaves half of them for the server's answer.
_WAIT_S: Final = 0.025
_AWAY_S: Final = 0.5
_MAX_WAITING: Final = 20_000

Write = Callable[[str, Sequence[ExecutionRow]], Awaitable[None]]


class RowBuffer:
    """Rows accepted but not yet written: what the death of this process may lose."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._rows: list[ExecutionRow] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flush: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Sequence[ExecutionRow]) -> None:
        """Accept rows.

        Raises:
            StoreUnavailableError: too many wait already, because none could be written for long.
        """
        if len(self._rows) + len(rows) > _MAX_WAITING:
            raise StoreUnavailableError(f"{len(self._rows)} execution rows wait to be written")
        self._rows.extend(rows)
        self._arm(_WAIT_S)

    async def flush(self) -> None:
        """Write every accepted row.

        Raises:
            StoreUnavailableError: it could not be done; the rows wait on.
        """
        if self._flush is not None:
            await asyncio.wait([self._flush])
        if self._rows:
            self._begin()
        if self._flush is not None:
            await self._flush

    def stop(self) -> None:
        """Write nothing more by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, wait_s: float) -> None:
        if self._rows and self._timer is None and self._flush is None:
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._begin)

    def _begin(self) -> None:
        self.stop()
        self._flush = asyncio.create_task(self._all())
        self._flush.add_done_callback(self._ended)

    async def _all(self) -> None:
        while self._rows:
            batch = self._rows[:PIECE]
            by_tenant: defaultdict[str, list[ExecutionRow]] = defaultdict(list)
            for row in batch:
                by_tenant[row.tenant].append(row)
            for tenant, rows in by_tenant.items():
                await self._write(tenant, rows)
            del self._rows[: len(batch)]

    def _ended(self, flush: "asyncio.Task[None]") -> None:
        self._flush = None
        failed = flush.cancelled() or flush.exception() is not None
        self._arm(_AWAY_S if failed else _WAIT_S)
