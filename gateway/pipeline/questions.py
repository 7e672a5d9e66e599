"""What may be asked besides a call: operations, rows, the catalogue, how this process is; and an operator's word."""

from collections.abc import Collection
from typing import Any, Final

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.execution import ExecutionRow
from gateway.contract.requests import (
    EXECUTIONS_READ,
    OPERATIONS_READ,
    OPERATIONS_SETTLE,
    ExecutionQuery,
    OperationQuery,
    Readiness,
    SettledAs,
    SettleRequest,
    SignalQuery,
    ToolSummary,
)
from gateway.manifest.policies import Scope
from gateway.manifest.tool import Tool
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.sweeping import Sweeper
from gateway.pipeline.telling import afterwards, rfc3339
from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.ports import OperationFilter, RowFilter, StoreUnavailableError
from gateway.stages.execute.operation.record import RUNNING, SETTLED, Record, State
from gateway.stages.execute.operation.table import Event, IllegalMoveError
from gateway.stages.feedback.context import Context
from gateway.stages.feedback.observation import explain
from gateway.stages.monitor.headroom import Declared
from gateway.stages.monitor.signals import signals_of
from gateway.stages.normalise.stored import store_answer

EVENTS: Final = {
    SettledAs.EXECUTED: Event.OPERATOR_DONE,
    SettledAs.NOT_EXECUTED: Event.OPERATOR_FREE,
    SettledAs.REFUSED: Event.OPERATOR_REFUSED,
}

SIGNAL_ROWS = 2000
"""Rows that one answer about signals is made of, the newest: reading them keeps the event loop for tens of milliseconds."""


class Questions:
    """Answers from the store, within what the caller may see: the own subject's, or the tenant's by permission."""

    def __init__(self, parts: Parts, keeper: Keeper, looker: Looker, sweeper: Sweeper, pins: Pins) -> None:
        self._parts = parts
        self._keeper = keeper
        self._looker = looker
        self._sweeper = sweeper
        self._pins = pins

    def catalogue(self, caller: Caller) -> tuple[ToolSummary, ...]:
        """The tools the caller may use: without the permission a tool is not there."""
        tools = self._parts.tools.catalogue.tools.values()
        held = self._parts.quarantined()
        return tuple(_summary(tool, held) for tool in tools if tool.permission in caller.permissions)

    async def operation(self, operation_id: str, caller: Caller) -> Envelope:
        """One operation, as far as the caller may see it; with its arguments for whoever made it or may settle it.

        Nobody can say of an unknown how it ended without knowing what it was.
        """
        record = await self._visible(operation_id, caller)
        if record is None:
            return self._not_found()
        shown = self.view(record)
        if OPERATIONS_SETTLE in caller.permissions or record.origin.subject == caller.subject:
            shown["arguments"] = await self._pins.arguments_of(record)
        return succeed(shown, self._meta(record))

    async def operations(self, query: OperationQuery, caller: Caller) -> Envelope:
        """Operations that fit the query, newest first."""
        if query.key is not None:
            record = await self._parts.store.by_key(caller.tenant, query.key)
            found: tuple[Record, ...] = () if record is None or not may_see(record, caller) else (record,)
        else:
            found = await self._parts.store.list_operations(
                OperationFilter(
                    tenant=caller.tenant,
                    states=None if query.states is None else frozenset(State(s) for s in query.states),
                    run_id=query.run_id,
                    subject=None if OPERATIONS_READ in caller.permissions else caller.subject,
                    tool=query.tool,
                    limit=query.limit,
                )
            )
        return succeed({"operations": [self.view(record) for record in found]}, self._meta())

    async def executions(self, query: ExecutionQuery, caller: Caller) -> tuple[ExecutionRow, ...]:
        """Execution rows that fit the query, newest first."""
        return await self._parts.store.list_rows(
            RowFilter(
                tenant=caller.tenant,
                subject=None if EXECUTIONS_READ in caller.permissions else caller.subject,
                run_id=query.run_id,
                tool=query.tool,
                code=query.code,
                operation_id=query.operation_id,
                trace_id=query.trace_id,
                since_wall=query.since_wall,
                limit=query.limit,
            )
        )

    async def signals(self, query: SignalQuery, caller: Caller) -> Envelope:
        """The four signals per tool, from the newest rows of the tenant that the caller may see."""
        reader = EXECUTIONS_READ in caller.permissions
        # What is asked for is picked out here: a store may have to look at every row to find those of one tool.
        wanted = RowFilter(tenant=caller.tenant, since_wall=query.since_wall, limit=SIGNAL_ROWS + 1)
        found = await self._parts.store.list_rows(wanted)
        read = found[:SIGNAL_ROWS]
        rows = [r for r in read if (reader or r.subject == caller.subject) and query.tool in (None, r.tool)]
        seen = read if reader else rows
        tools = self._parts.tools.catalogue.tools.values()
        declared = {
            tool.name: Declared(read_s=tool.timeouts.read_s, total_s=tool.timeouts.total_s)
            for tool in tools
            if reader or tool.permission in caller.permissions
        }
        data = {
            "tools": [signals.to_dict() for signals in signals_of(rows, declared)],
            "rows": len(seen),
            "rows_cap": SIGNAL_ROWS,
            "complete": len(found) == len(read),
            "oldest_at": rfc3339(seen[-1].at_wall) if seen else None,
        }
        return succeed(data, self._meta())

    async def reconcile(self, operation_id: str, caller: Caller) -> Envelope:
        """Look now, by the manifest's means."""
        record = await self._visible(operation_id, caller)
        if record is None:
            return self._not_found()
        owned_by_the_living = record.state in RUNNING and not record.lease_is_dead(self._parts.store.now())
        if record.state in SETTLED | {State.FREE} or owned_by_the_living:
            return succeed(self.view(record), self._meta(record))
        if not await self._sweeper.has_means(record):
            return self._refuse(ErrorCode.NOT_RECONCILABLE, record)
        after = await self._sweeper.reconcile(record)
        return succeed(self.view(after), self._meta(after))

    async def settle(self, operation_id: str, settlement: SettleRequest, caller: Caller) -> Envelope:
        """An operator's word, kept with its evidence and a row."""
        record = await self._visible(operation_id, caller)
        if record is None:
            return self._not_found()
        if OPERATIONS_SETTLE not in caller.permissions:
            return self._refuse(ErrorCode.FORBIDDEN, record, permission=OPERATIONS_SETTLE)
        event = EVENTS[settlement.settled_as]
        by = f"operator:{caller.subject}"
        # A person's word is shown as the tool of today shows results, where that of the record is gone.
        tool = await self._pins.tool_of(record) or self._parts.tools.catalogue.get(record.origin.tool)
        if (misfit := _misfit(tool, settlement)) is not None:
            return self._refuse(ErrorCode.INVALID_SETTLEMENT, record, reason=misfit)
        word = self._word(record, settlement, by, tool)
        try:
            after = await self._keeper.move(
                record,
                lambda r, now: machine.settle_by_operator(r, event, word, now=now, evidence=settlement.evidence),
                self._looker.rows(record, by=by),
            )
        except IllegalMoveError:
            return self._refuse(ErrorCode.INVALID_SETTLEMENT, record, state=record.state.value)
        return succeed(self.view(after), self._meta(after))

    async def ready(self, *, draining: bool, missing: str | None = None) -> Readiness:
        """Whether calls should be sent here; `missing`: why the store is not used yet."""
        store = self._parts.store
        checks = {"store": missing or "ok"}
        try:
            if missing is None:
                await store.check()
        except StoreUnavailableError as error:
            checks["store"] = str(error) or "the store does not answer"
        warnings = [*store.caveats, *self._parts.caveats()]
        if store.clock_stepped_back():
            warnings.append("The wall clock has stepped back by more than 5 s; same-key replays are stopped.")
        ready = checks["store"] == "ok" and not draining
        return Readiness(ready=ready, draining=draining, warnings=tuple(warnings), checks=checks)

    def view(self, record: Record) -> dict[str, Any]:
        """An operation as lists show it: what was done and how it stands, without bodies."""
        origin = record.origin
        return {
            "operation_id": record.operation_id,
            "operation_key": record.key,
            "tool": origin.tool,
            "tool_version": origin.tool_version,
            "manifest_digest": origin.manifest_digest,
            "effect": origin.effect,
            "state": "unknown" if record.state is State.LISTENING else record.state.value,
            "listening": record.state is State.LISTENING,
            "occurrence": record.occurrence,
            "subject": origin.subject,
            "run_id": origin.run_id,
            "step": origin.step,
            "attempts": [
                {
                    "number": a.number,
                    "at": rfc3339(a.sent_wall),
                    "known": a.knowledge.value,
                    "code": a.code,
                    "status": a.status,
                }
                for a in record.attempts
            ],
            "created_at": rfc3339(record.created_wall),
            "settled_at": rfc3339(record.settled_wall),
            "settled_by": record.settled_by,
            "evidence": record.evidence,
            "code": record.outcome_code,
            "negatives": record.negatives,
            "tombstone": record.tombstone,
        }

    def _word(self, record: Record, settlement: SettleRequest, by: str, tool: Tool | None) -> Settlement:
        result, code = None, ErrorCode.REJECTED.value if settlement.settled_as is SettledAs.REFUSED else None
        if settlement.settled_as is SettledAs.EXECUTED and tool is not None:
            telling = afterwards(self._parts, tool, record, trace_id=None)
            envelope = telling.found(settlement.result, record)
            result = store_answer(envelope, telling.identifier)
            code = None if envelope.error is None else envelope.error.code.value
        return Settlement(by=by, wall=self._parts.store.wall(), result=result, code=code)

    async def _visible(self, operation_id: str, caller: Caller) -> Record | None:
        record = await self._parts.store.by_operation_id(caller.tenant, operation_id)
        return record if record is not None and may_see(record, caller) else None

    def _meta(self, record: Record | None = None) -> Meta:
        return Meta(
            request_id="",
            tool=None if record is None else record.origin.tool,
            operation_id=None if record is None else record.operation_id,
            recorded=record is not None,
            store_epoch=self._parts.store.epoch,
        )

    def _not_found(self) -> Envelope:
        return fail(ErrorCode.OPERATION_NOT_FOUND, self._meta())

    def _refuse(self, code: ErrorCode, record: Record, **facts: Any) -> Envelope:
        context = Context(tool=record.origin.tool, operation_id=record.operation_id, **facts)
        return explain(fail(code, self._meta(record)), context)


def may_see(record: Record, caller: Caller) -> bool:
    """Whether a caller may be told of an operation: the own subject's, or any of the tenant's by permission."""
    if record.origin.tenant != caller.tenant:
        return False
    allowed = {OPERATIONS_READ, OPERATIONS_SETTLE} & caller.permissions
    return bool(allowed) or record.origin.subject == caller.subject


def _misfit(tool: Tool | None, settlement: SettleRequest) -> str | None:
    """Where the result of a settlement departs from what the tool declares; None: it fits, or there is none."""
    if tool is None or tool.result is None or settlement.result is None:
        return None
    fault = tool.result.fault(settlement.result)
    return None if fault is None else f"result{fault.removeprefix('data')}, as {tool.name} declares its result"


def unavailable() -> Envelope:
    """What every question gets while the store is away."""
    return fail(ErrorCode.STORE_UNAVAILABLE, Meta(request_id=""))


def _summary(tool: Tool, quarantined: Collection[str]) -> ToolSummary:
    lookup, deprecated = tool.reconcile.lookup, tool.deprecated
    return ToolSummary(
        name=tool.name,
        version=tool.version,
        digest=tool.digest,
        title=tool.title,
        description=tool.description,
        effect=tool.effect.value,
        arguments=tool.arguments_schema,
        result=None if tool.result is None else tool.result.published,
        needs_run_id=tool.identity.scope is Scope.RUN,
        needs_key=tool.identity.fields == "caller",
        window_s=tool.identity.window_s,
        verify_with=None if lookup is None else lookup.tool,
        quarantined=tool.name in quarantined,
        deprecated=None
        if deprecated is None
        else {
            "since": deprecated.since,
            "use_instead": deprecated.use_instead,
            "remove_after": deprecated.remove_after,
        },
    )
