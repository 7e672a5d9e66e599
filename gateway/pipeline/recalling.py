"""A call says that it was sent before, and the store has no record of it: what the world shows comes before any new send."""

from gateway.manifest.tool import Tool
from gateway.pipeline.claiming import Claims
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.visit import Step, Visit
from gateway.stages.execute.operation.meeting import Forgotten
from gateway.stages.execute.operation.record import Record
from gateway.stages.monitor.ports import ReconcileMethod, ReconcileResult


class Recall:
    """What a store that may have forgotten lets a call do."""

    def __init__(self, keeper: Keeper, looker: Looker, claims: Claims) -> None:
        self._keeper = keeper
        self._looker = looker
        self._claims = claims

    async def start(self, meeting: Forgotten, visit: Visit) -> Step:
        """Send, where the downstream's own memory keeps it from acting twice; else keep it as an operation in doubt."""
        tool = visit.intention.tool
        record = self._claims.new_record(visit, meeting.occurrence, None)
        if tool.downstream_key is not None and await self._shows_nothing(record, visit):
            return await self._claims.start(meeting, visit)
        barred = await self._claims.barred(visit)
        if barred is None:
            await self._keeper.insert(record)
        return barred

    async def _shows_nothing(self, record: Record, visit: Visit) -> bool:
        """Whether a keyed write may go out under its key, that of an occurrence which the store may have miscounted.

        Where a look-up is declared, it must show the whole, and in it nothing that may be this operation's.
        """
        if not looks(visit.intention.tool):
            return True
        trace = visit.trace.reconcile(ReconcileMethod.LOOKUP)
        sight = await self._looker.look(record, visit.intention.tool, trace, deadline=visit.deadline)
        result = ReconcileResult.DONE if sight.matches else ReconcileResult.STILL_UNKNOWN
        trace.ended(result, operation_id=record.operation_id)
        return sight.proves_absence and not sight.matches


def looks(tool: Tool) -> bool:
    """Whether a look-up can show what a write of the tool has done."""
    return tool.reconcile.lookup is not None
