"""The seven stages in order. A call is a value that passes through them in one direction.

    1 validate   2 execute   3 retry?   4 normalise   5 feedback   6 monitor   7 record

Reads go through `reads`, writes through `writes`; both come back as an envelope that has its sentence, its row and,
for a write, its record.
"""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.execution import ExecutionRow
from gateway.contract.requests import (
    ApprovalQuery,
    BreakerView,
    DecisionRequest,
    ExecutionQuery,
    OperationQuery,
    Readiness,
    SettleRequest,
    SignalQuery,
    ToolSummary,
)
from gateway.manifest.placeholders import RenderError
from gateway.manifest.policies import Effect
from gateway.manifest.tool import Tool
from gateway.pipeline.approving import may_repeat
from gateway.pipeline.claiming import Claims
from gateway.pipeline.forgetting import Forgetting
from gateway.pipeline.inbox import Inbox
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.limiting import over_limit, with_rates
from gateway.pipeline.opening import Opening
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.pipeline.preparing import prepare
from gateway.pipeline.pulse import Pulse, stopped
from gateway.pipeline.questions import Questions, unavailable
from gateway.pipeline.reads import read_envelope, run_read
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.rowing import RowKeeper
from gateway.pipeline.ruling import ACCESS, EVERY, Ruling
from gateway.pipeline.spool import Faults, Spool
from gateway.pipeline.sweeping import Sweeper
from gateway.pipeline.telling import Telling
from gateway.pipeline.visit import Visit
from gateway.pipeline.waiting import WaitingRoom
from gateway.pipeline.writes import Writes
from gateway.stages.execute.attempt.deadline import call_deadline
from gateway.stages.execute.attempt.render import render
from gateway.stages.execute.operation.intention import Intention, intend
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.monitor.execution import Stamp, call_row
from gateway.stages.monitor.ports import CallTrace, IdempotencyResult, UnknownOperations
from gateway.stages.validate.checks import validate
from gateway.stages.validate.verdict import Accepted, Rejected

_T = TypeVar("_T")


class Pipeline:
    """What a front drives. Nothing here raises for anything that a caller did."""

    def __init__(self, parts: Parts, faults: Faults) -> None:
        self._parts = parts
        self._spool = Spool(parts.clock, faults)
        self._pulse = Pulse(parts)
        keeper = Keeper(parts.store, parts.telemetry)
        self._rows = RowKeeper(parts, keeper, self._spool)
        self._pins = Pins(parts)
        looker = Looker(parts, keeper, self._pins)
        room = WaitingRoom(parts.bounds.waiters)
        self._opening = Opening(parts, self._pins)
        self._claims = Claims(parts, keeper, looker, room, self._spool, self._pulse, self._pins, self._spawn)
        self._writes = Writes(parts, keeper, looker, room, self._claims, self._pins)
        self._sweeper = Sweeper(parts, keeper, looker, self._spool, self._pins)
        self._questions = Questions(parts, keeper, looker, self._sweeper, self._pins)
        self._inbox = Inbox(parts, self._pins, self._questions, self._spool)
        self._running: set[asyncio.Task[Any]] = set()
        self._background: list[asyncio.Task[None]] = []
        self._unknown: dict[str, UnknownOperations] = {}

    async def call(self, call: ToolCall, caller: Caller) -> Envelope:
        """Carry one call through the stages."""
        parts = self._parts
        arrived = parts.clock.monotonic()
        catalogue = parts.tools.catalogue
        trace = parts.telemetry.call_started(
            catalogue.get(call.tool),
            traceparent=call.traceparent,
            tracestate=call.tracestate,
            run_id=call.run_id,
            arrived_at=arrived,
        )
        telling = Telling(parts, call, caller, trace_id=trace.trace_id, arrived=arrived)
        verdict = validate(call, caller, catalogue)
        match verdict:
            case Rejected():
                envelope = await self._rows.keep(telling, telling.reject(verdict))
            case Accepted(tool=tool, args=arguments):
                telling.knows(tool, arguments)
                if tool.capture:
                    trace.capture(arguments)
                deadline = call_deadline(tool.timeouts, started=arrived, requested_ms=call.deadline_ms)
                telling.deadline = deadline
                if tool.effect is Effect.READ:
                    envelope = await self._read(telling, trace, tool, deadline)
                else:
                    # Nobody cancels a write: a caller that goes away leaves it to end, and to be recorded.
                    return await asyncio.shield(self._spawn(self._written(telling, trace, tool, deadline)))
        telling.end(envelope, trace)
        return await with_rates(parts, telling, envelope)

    async def _read(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> Envelope:
        try:
            return await self._rows.keep(telling, await self._reading(telling, trace, tool, deadline))
        except asyncio.CancelledError:
            trace.abandoned()
            raise

    async def _reading(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> Envelope:
        refused = await self._ruling(telling, trace).refusal(tool, EVERY) if tool.rules else None
        refused = refused or await over_limit(self._parts, telling)
        if refused is not None:
            return refused
        try:
            rendered = render(tool, telling.values(key=""))
        except RenderError as error:
            return telling.unsendable(error)
        return read_envelope(telling, await run_read(self._parts, tool, rendered, trace, deadline=deadline))

    async def _written(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> Envelope:
        envelope = await self._write(telling, trace, tool, deadline)
        telling.end(envelope, trace)
        return await with_rates(self._parts, telling, envelope)

    async def _write(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> Envelope:
        reader, parent = self._parts.tools.catalogue.reader_of(tool), trace.traceparent
        intention = intend(tool, telling.arguments, telling.call, telling.caller, traceparent=parent, reader=reader)
        if not isinstance(intention, Intention):
            return await self._rows.keep(telling, telling.refuse(intention), strict=True)
        ruling = self._ruling(telling, trace)
        refused = await ruling.refusal(tool, ACCESS)
        if refused is None and telling.call.repeat_of is not None and not may_repeat(tool):
            # A second effect on purpose needs a person's approval, and this manifest does not ask for one.
            refused = telling.refuse(ErrorCode.REPEAT_NOT_ALLOWED)
        if refused is not None:
            return await self._rows.keep(telling, refused, strict=True)
        visit = Visit(intention=intention, telling=telling, trace=trace, ruling=ruling, deadline=deadline)
        try:
            self._opening.require()
            envelope = await self._writes.run(visit)
        except StoreUnavailableError:
            telling.idempotency = IdempotencyResult.STORE_ERROR
            # Its caller has waited for the store once.
            return await self._rows.keep(telling, telling.without_store())
        return envelope if telling.rowed else await self._rows.keep(telling, envelope, strict=True)

    def _ruling(self, telling: Telling, trace: CallTrace) -> Ruling:
        return Ruling(self._parts, self._rows, telling, traceparent=trace.traceparent)

    async def refused(self, envelope: Envelope, caller: Caller) -> None:
        """Leave a row for an envelope that the front wrote itself: the request was not even a call."""
        stamp = Stamp(row_id=self._parts.chance.ulid(), at_wall=self._parts.store.wall())
        await self._rows.append(call_row(envelope, stamp, tool=None, caller=caller, call=None))

    async def prepare(self, call: ToolCall, caller: Caller) -> Envelope:
        """Validate, authorise and derive; execute nothing."""
        telling = Telling(self._parts, call, caller, trace_id=None, arrived=self._parts.clock.monotonic())
        try:
            self._opening.require()
            ruling = Ruling(self._parts, self._rows, telling, traceparent=call.traceparent)
            return await prepare(self._parts, self._writes, self._claims, ruling, telling)
        except StoreUnavailableError:
            return telling.refuse(ErrorCode.STORE_UNAVAILABLE)

    async def catalogue(self, caller: Caller) -> tuple[ToolSummary, ...]:
        """The tools the caller may use."""
        return self._questions.catalogue(caller)

    async def operation(self, operation_id: str, caller: Caller) -> Envelope:
        """One operation."""
        return await self._asked(self._questions.operation(operation_id, caller))

    async def operations(self, query: OperationQuery, caller: Caller) -> Envelope:
        """Operations that fit a query."""
        return await self._asked(self._questions.operations(query, caller))

    async def reconcile(self, operation_id: str, caller: Caller) -> Envelope:
        """Look now. The look goes on when the caller goes."""
        return await asyncio.shield(self._spawn(self._asked(self._questions.reconcile(operation_id, caller))))

    async def settle(self, operation_id: str, settlement: SettleRequest, caller: Caller) -> Envelope:
        """An operator's word."""
        return await asyncio.shield(self._spawn(self._asked(self._questions.settle(operation_id, settlement, caller))))

    async def executions(self, query: ExecutionQuery, caller: Caller) -> tuple[ExecutionRow, ...] | Envelope:
        """Execution rows."""
        try:
            self._opening.require()
            return await self._questions.executions(query, caller)
        except StoreUnavailableError:
            return unavailable()

    async def signals(self, query: SignalQuery, caller: Caller) -> Envelope:
        """The four signals per tool."""
        return await self._asked(self._questions.signals(query, caller))

    async def _asked(self, question: Coroutine[Any, Any, Envelope]) -> Envelope:
        try:
            self._opening.require()
            return await question
        except StoreUnavailableError:
            question.close()
            return unavailable()

    async def approval(self, approval_id: str, caller: Caller) -> Envelope:
        """One approval."""
        return await self._asked(self._inbox.one(approval_id, caller))

    async def approvals(self, query: ApprovalQuery, caller: Caller) -> Envelope:
        """Approvals that fit a query."""
        return await self._asked(self._inbox.many(query, caller))

    async def decide(self, approval_id: str, request: DecisionRequest, caller: Caller) -> Envelope:
        """A person's word about one."""
        return await asyncio.shield(self._spawn(self._asked(self._inbox.decide(approval_id, request, caller))))

    def breakers(self) -> tuple[BreakerView, ...]:
        """Every circuit breaker this process knows of."""
        return self._questions.breakers()

    async def ready(self) -> Readiness:
        """Whether calls should be sent here."""
        return await self._questions.ready(draining=self._claims.draining, missing=self._opening.missing)

    def metrics(self) -> bytes:
        """Prometheus text format."""
        return self._parts.telemetry.render_prometheus()

    async def start(self) -> None:
        """Begin what runs beside calls. A store that is away for long is waited for beside them, too.

        Raises:
            StoreUnfitError: the store answers, and must not be used.
            RevisionError: a manifest would lose the records of its predecessor.
        """
        there = await self._opening.begin()
        self._parts.telemetry.watch_unknown(lambda: dict(self._unknown))
        self._background.append(asyncio.create_task(self._pulse.run()))
        if there:
            self._care()
        else:
            self._background.append(asyncio.create_task(self._care_later()))

    async def _care_later(self) -> None:
        await self._opening.later()
        self._care()

    def _care(self) -> None:
        """Begin to care for what is in the store."""
        cares = (self._sweeper.run(), self._inbox.run(), Forgetting(self._parts).run(), self._count_unknown())
        self._background += [asyncio.create_task(care) for care in cares]

    async def drain(self, grace_s: float) -> None:
        """Refuse new writes from now on; wait for the calls that run, but no longer than `grace_s`."""
        self._claims.draining = True
        if self._running:
            await asyncio.wait(set(self._running), timeout=grace_s)

    async def stop(self) -> None:
        """Wait for writes that still listen, each up to its own end; make rows durable; let go."""
        self._claims.draining = True
        while self._running:
            await asyncio.wait(set(self._running))
        await self._spool.drained(self._parts.bounds.lease_s)
        for task in self._background:
            await stopped(task)
        await self._parts.store.close()

    async def _count_unknown(self) -> None:
        while True:
            with contextlib.suppress(StoreUnavailableError):
                counted = await self._parts.store.count_unknown()
                self._unknown = {
                    tool: UnknownOperations(count=count, oldest_age_s=age) for tool, (count, age) in counted.items()
                }
            await self._parts.clock.sleep(max(1.0, self._parts.bounds.sweep_interval_s))

    def _spawn(self, work: Coroutine[Any, Any, _T]) -> "asyncio.Task[_T]":
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task
