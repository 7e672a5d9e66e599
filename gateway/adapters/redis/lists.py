"""Lists of one tenant's records and rows, read in pieces, newest first. Between two pieces the store may change."""

from collections.abc import AsyncIterator
from typing import Any

from gateway.adapters.redis import records
from gateway.adapters.redis.memory import PIECE, Memory, text_of
from gateway.at_rest.sealing import Sealer
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.operation.ports import OperationFilter, RowFilter
from gateway.stages.execute.operation.record import ENDED, Record


class Lists:
    """Asks for lists."""

    def __init__(self, memory: Memory, sealer: Sealer) -> None:
        self._memory = memory
        self._sealer = sealer

    async def operations(self, query: OperationFilter, wall: float) -> tuple[Record, ...]:
        """Records, newest first, at most `query.limit`."""
        states = query.states
        source = "open" if states is not None and not states & ENDED else "ops"
        found: list[Record] = []
        below = "+inf"
        while below and len(found) < query.limit and states != frozenset():
            reply = await self._memory.ask(
                query.tenant,
                "list",
                (
                    source,
                    below,
                    PIECE,
                    query.limit - len(found),
                    "" if states is None else f",{','.join(sorted(states))},",
                    query.run_id or "",
                    query.subject or "",
                    query.tool or "",
                ),
                wall=wall,
            )
            last, told = reply.values
            below = text_of(last)
            found += records.decode_many(told, query.tenant, self._sealer)
        return tuple(found)

    async def rows(self, query: RowFilter, wall: float) -> AsyncIterator[ExecutionRow]:
        """Rows that fit the query, newest first."""
        until = "-" if query.since_wall is None else f"{int(query.since_wall * 1000)}-0"
        start = "+"
        while True:
            reply = await self._memory.ask(query.tenant, "list_rows", (start, until, PIECE), wall=wall)
            entries = _pairs(reply.values[0])
            for _, body in entries:
                row = records.decode_row(body, query.tenant)
                if query.matches(row):
                    yield row
            if len(entries) < PIECE:
                return
            start = f"({text_of(entries[-1][0])}"


def _pairs(told: object) -> list[Any]:
    return told if isinstance(told, list) else []
