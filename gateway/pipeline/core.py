"""The seven stages in order. A call is a value that passes through them in one direction.

    1 validate   2 execute   3 retry?   4 normalise   5 feedback   6 monitor   7 record

Reads go through `reads`, writes through `write_call` and `writes`; both come back as an envelope that has its sentence, its row and,
for a write, its record.
"""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.execution import ExecutionRow
from gateway.contract.requests import (
    ApprovalQuery,
    BreakerView,
    DecisionRequest,
    ExecutionQuery,
    ForceRequest,
    OperationQuery,
    Readiness,
    SettleRequest,
    SignalQuery,
    StartRefusedError,
    ToolSummary,
)
from gateway.manifest.placeholders import RenderError
from gateway.manifest.policies import Effect
from gateway.manifest.tool import Tool
from gateway.pipeline.background import Background
from gateway.pipeline.breakers import Breakers
from gateway.pipeline.claiming import Claims
from gateway.pipeline.detached import Detached
from gateway.pipeline.forgetting import Forgetting
from gateway.pipeline.inbox import Inbox
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.limiting import deliver, over_limit
from gateway.pipeline.opening import Opening
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins, RevisionError
from gateway.pipeline.preparing import prepare
from gateway.pipeline.pulse import Pulse
from gateway.pipeline.questions import Questions, unavailable
from gateway.pipeline.reads import read_envelope, run_read
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.rowing import RowKeeper
from gateway.pipeline.ruling import EVERY, Ruling
from gateway.pipeline.spool import Spool
from gateway.pipeline.sweeping import Sweeper
from gateway.pipeline.telling import Telling
from gateway.pipeline.waiting import WaitingRoom
from gateway.pipeline.write_call import WriteCalls
from gateway.pipeline.writes import Writes
from gateway.stages.execute.attempt.deadline import call_deadline
from gateway.stages.execute.attempt.render import render
from gateway.stages.execute.operation.ports import StoreUnavailableError, StoreUnfitError
from gateway.stages.monitor.execution import Stamp, call_row
from gateway.stages.monitor.ports import CallTrace, UnknownOperations
from gateway.stages.validate.checks import validate
from gateway.stages.validate.verdict import Accepted, Rejected


class Pipeline:
    """What a front drives. Nothing here raises for anything that a caller did."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._detached = Detached()
        self._spool = Spool(parts.clock, parts.faults)
        self._pulse = Pulse(parts)
        keeper = Keeper(parts.store, parts.telemetry)
        self._rows = RowKeeper(parts, keeper, self._spool)
        self._pins = Pins(parts)
        looker = Looker(parts, keeper, self._pins)
        room = WaitingRoom(parts.choices.waiters)
        self._opening = Opening(parts, self._pins)
        self._claims = Claims(parts, keeper, looker, room, self._spool, self._pulse, self._pins, self._detached.spawn)
        self._writes = Writes(parts, keeper, looker, room, self._claims, self._pins)
        self._write_calls = WriteCalls(parts, self._rows, self._writes, self._detached, self._opening)
        self._sweeper = Sweeper(parts, keeper, looker, self._spool, self._pins)
        self._questions = Questions(parts, keeper, looker, self._sweeper, self._pins)
        self._inbox = Inbox(parts, keeper, self._pins, self._questions)
        self._breakers = Breakers(parts)
        self._background = Background(parts.clock, parts.faults)
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
                    return await self._write_calls.run(telling, trace, tool, deadline)
        return await deliver(parts, telling, trace, envelope)

    async def _read(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> Envelope:
        try:
            return await self._rows.keep(telling, await self._reading(telling, trace, tool, deadline))
        except asyncio.CancelledError:
            trace.abandoned()
            raise

    async def _reading(self, telling: Telling, trace: CallTrace, tool: Tool, deadline: float) -> Envelope:
        ruling = Ruling(self._parts, self._rows, telling, traceparent=trace.traceparent)
        refused = await ruling.refusal(tool, EVERY) if tool.rules else None
        refused = refused or await over_limit(self._parts, telling)
        if refused is not None:
            return refused
        try:
            rendered = render(tool, telling.values(key=""))
        except RenderError as error:
            return telling.unsendable(error)
        return read_envelope(telling, await run_read(self._parts, tool, rendered, trace, deadline=deadline))

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
        return await self._detached.told(self._asked(self._questions.reconcile(operation_id, caller)))

    async def settle(self, operation_id: str, settlement: SettleRequest, caller: Caller) -> Envelope:
        """An operator's word."""
        return await self._detached.told(self._asked(self._questions.settle(operation_id, settlement, caller)))

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
        return await self._detached.told(self._asked(self._inbox.decide(approval_id, request, caller)))

    def breakers(self) -> tuple[BreakerView, ...]:
        """Every circuit breaker this process knows of."""
        return self._breakers.all()

    async def force_breaker(self, scope: str, request: ForceRequest, caller: Caller) -> Envelope:
        """An operator's word about one of them."""
        return await self._detached.told(self._asked(self._breakers.force(scope, request, caller)))

    async def ready(self) -> Readiness:
        """Whether calls should be sent here."""
        return await self._questions.ready(draining=self._claims.draining, missing=self._opening.missing)

    def metrics(self) -> bytes:
        """Prometheus text format."""
        return self._parts.telemetry.render_prometheus()

    async def start(self) -> None:
        """Begin what runs beside calls. A store that is away for long is waited for beside them, too.

        Raises:
            StartRefusedError: the store answers and must not be used, or a manifest would lose its predecessor's records.
        """
        try:
            there = await self._opening.begin()
        except (StoreUnfitError, RevisionError) as unfit:
            raise StartRefusedError(str(unfit)) from unfit
        self._parts.telemetry.watch_unknown(lambda: dict(self._unknown))
        self._background.begin("heartbeat", self._pulse.run)
        if there:
            self._care()
        else:
            self._background.begin("opening", self._care_later)

    async def _care_later(self) -> None:
        await self._opening.later()
        self._care()

    def _care(self) -> None:
        """Begin to care for what is in the store."""
        self._background.begin("sweeper", self._sweeper.run)
        self._background.begin("approvals", self._inbox.run)
        self._background.begin("retention", Forgetting(self._parts).run)
        self._background.begin("unknown operations", self._count_unknown)

    async def drain(self, grace_s: float) -> None:
        """Refuse new writes from now on; wait for the calls that run, but no longer than `grace_s`."""
        self._claims.draining = True
        await self._detached.ended(grace_s)

    async def stop(self) -> None:
        """Wait for writes that still listen, each up to its own end; make rows durable; let go."""
        self._claims.draining = True
        await self._detached.ended()
        await self._spool.drained(self._parts.choices.lease_s)
        await self._background.end()
        await self._parts.let_go()
        await self._parts.store.close()

    async def _count_unknown(self) -> None:
        while True:
            with contextlib.suppress(StoreUnavailableError):
                counted = await self._parts.store.count_unknown()
                self._unknown = {
                    tool: UnknownOperations(count=count, oldest_age_s=age) for tool, (count, age) in counted.items()
                }
            await self._parts.clock.sleep(max(1.0, self._parts.choices.sweep_interval_s))
