"""The row of an envelope that changed no record."""

from gateway.contract.envelope import Envelope
from gateway.contract.execution import ExecutionRow
from gateway.manifest.policies import Rows as Durability
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.parts import Parts
from gateway.pipeline.spool import Spool
from gateway.pipeline.telling import Telling
from gateway.stages.execute.operation.ports import StoreUnavailableError


class RowKeeper:
    """Keeps them; with the store away, later."""

    def __init__(self, parts: Parts, keeper: Keeper, spool: Spool) -> None:
        self._parts = parts
        self._keeper = keeper
        self._spool = spool

    async def keep(self, telling: Telling, envelope: Envelope, *, strict: bool = False) -> Envelope:
        """Keep the row of a call's envelope, and give the envelope back.

        Args:
            telling: the call.
            envelope: as it is delivered.
            strict: durable before this returns, whatever the manifest says.
        """
        tool = telling.tool
        strict = strict or self._parts.choices.sync_rows or (tool is not None and tool.rows is Durability.SYNC)
        await self.append(telling.row(envelope), strict=strict)
        return envelope

    async def append(self, row: ExecutionRow, *, strict: bool = False) -> None:
        """Keep one row."""
        try:
            await self._keeper.append(row, strict=strict)
        except StoreUnavailableError:
            self._spool.later(lambda: self._keeper.append(row, strict=True))
