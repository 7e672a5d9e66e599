"""A call says that it was sent before, and the store has no record of it: what the world shows comes before any new send."""

from gateway.contract.codes import ErrorCode
from gateway.manifest.tool import Tool
from gateway.pipeline.claiming import Claims
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.limiting import over_limit
from gateway.pipeline.parts import Parts
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.visit import Step, Visit
from gateway.stages.execute.operation.meeting import Forgotten
from gateway.stages.execute.operation.record import Record
from gateway.stages.monitor.ports import ReconcileMethod, ReconcileResult


class Recall:
    """What a store that may have forgotten lets a call do."""

    def __init__(self, parts: Parts, keeper: Keeper, looker: Looker, claims: Claims) -> None:
        self._parts = parts
        self._keeper = keeper
        self._looker = looker
        self._claims = claims

    async def start(self, meeting: Forgotten, visit: Visit) -> Step:
        """Send, where the downstream's own memory keeps it from acting twice; else keep it as an operation in doubt.

        A call that may not act puts no record in others' way. It is not told that nothing was executed: the send that
        it speaks of may have been allowed.
        """
        tool = visit.intention.tool
        record = self._claims.new_record(visit, meeting.occurrence, None)
        if tool.downstream_key is not None and await self._shows_nothing(record, visit):
            return await self._claims.start(meeting, visit)
        barred = await self._claims.barred(visit)
        if barred is not None:
            return barred
        if await self._claims.ruled(visit) or await over_limit(self._parts, visit.telling):
            return visit.telling.refuse(ErrorCode.OUTCOME_UNKNOWN)
        await self._keeper.insert(record)
        return None

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
