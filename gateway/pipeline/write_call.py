"""A call of a write: its record answers where it can, in the caller's own task; what may act is carried out in another."""

import asyncio

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.manifest.tool import Tool
from gateway.pipeline.approving import may_repeat
from gateway.pipeline.detached import Detached
from gateway.pipeline.limiting import deliver
from gateway.pipeline.opening import Opening
from gateway.pipeline.parts import Parts
from gateway.pipeline.rowing import RowKeeper
from gateway.pipeline.ruling import ACCESS, Ruling
from gateway.pipeline.telling import Telling
from gateway.pipeline.visit import Visit
from gateway.pipeline.writes import Writes
from gateway.stages.execute.operation.intention import Intention, intend
from gateway.stages.execute.operation.meeting import Meeting
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.monitor.ports import CallTrace, IdempotencyResult


class WriteCalls:
    """Calls of writes, from the validated call to the envelope."""

    def __init__(self, parts: Parts, rows: RowKeeper, writes: Writes, detached: Detached, opening: Opening) -> None:
        self._parts = parts
        self._rows = rows
        self._writes = writes
        self._detached = detached
        self._opening = opening

    async def run(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> Envelope:
        """Nobody cancels a write: a caller that goes away leaves it to end, and to be recorded."""
        try:
            seen = await self._look(telling, trace, tool, deadline)
            if isinstance(seen, Envelope):
                return await deliver(self._parts, telling, trace, seen)
        except asyncio.CancelledError:
            # So far it has only looked, and begins anew.
            self._detached.spawn(self._alone(telling, trace, tool, deadline))
            raise
        return await self._detached.told(self._act(telling, trace, *seen))

    async def _alone(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> None:
        seen = await self._look(telling, trace, tool, deadline)
        await (
            deliver(self._parts, telling, trace, seen)
            if isinstance(seen, Envelope)
            else self._act(telling, trace, *seen)
        )

    async def _look(
        self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float
    ) -> Envelope | tuple[Meeting, Visit]:
        """The answer of a write that need not be carried out, with its row; or what it meets."""
        reader, parent = self._parts.tools.catalogue.reader_of(tool), trace.traceparent
        intention = intend(tool, telling.arguments, telling.call, telling.caller, traceparent=parent, reader=reader)
        if not isinstance(intention, Intention):
            return await self._rows.keep(telling, telling.refuse(intention), strict=True)
        ruling = Ruling(self._parts, self._rows, telling, traceparent=trace.traceparent)
        refused = await ruling.refusal(tool, ACCESS)
        if refused is None and telling.call.repeat_of is not None and not may_repeat(tool):
            # A second effect on purpose needs a person's approval, and this manifest does not ask for one.
            refused = telling.refuse(ErrorCode.REPEAT_NOT_ALLOWED)
        if refused is not None:
            return await self._rows.keep(telling, refused, strict=True)
        visit = Visit(intention=intention, telling=telling, trace=trace, ruling=ruling, deadline=deadline)
        try:
            self._opening.require()
            seen = await self._writes.look(visit)
        except StoreUnavailableError:
            return await self._without_store(telling)
        return await self._rows.keep(telling, seen, strict=True) if isinstance(seen, Envelope) else (seen, visit)

    async def _act(self, telling: Telling, trace: CallTrace, meeting: Meeting, visit: Visit) -> Envelope:
        try:
            envelope = await self._writes.run(meeting, visit)
        except StoreUnavailableError:
            envelope = await self._without_store(telling)
        else:
            if not telling.rowed:
                await self._rows.keep(telling, envelope, strict=True)
        return await deliver(self._parts, telling, trace, envelope)

    async def _without_store(self, telling: Telling) -> Envelope:
        telling.idempotency = IdempotencyResult.STORE_ERROR
        # Its caller has waited for the store once.
        return await self._rows.keep(telling, telling.without_store())
