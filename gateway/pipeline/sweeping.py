"""Care for records that nobody drives: owners that died, outcomes that are due for a look, replays in the background."""

import asyncio

from gateway.contract.codes import ErrorCode
from gateway.manifest.tool import Tool
from gateway.pipeline.effort import OVERTAKEN, Effort, Running
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.pipeline.reconciling import Looker, lookup_terms, replay_terms
from gateway.pipeline.sending import Plan, Withheld
from gateway.pipeline.spool import Spool
from gateway.pipeline.telling import afterwards
from gateway.stages.execute.attempt.outcome import Done, NotSent, Refused
from gateway.stages.execute.operation import lookups, machine, replay
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.execute.operation.table import IllegalMoveError
from gateway.stages.monitor.outcome import learned
from gateway.stages.monitor.ports import AttemptKind, ReconcileMethod
from gateway.stages.normalise.stored import store_answer

_BATCH = 32
# Of a care that is not yet known to take longer, and what one takes beside the time of its tool. Whoever is killed in the
# midst of it holds the record up for as long, so that it is not more than that.
_CARE_S = 5.0
# The longer nothing was learned, the less often it is asked; never less than this often.
_SHORTEST_S, _LONGEST_S, _SHARE_OF_AGE = 1.0, 300.0, 0.25


class Sweeper:
    """Reconciles; called by the live system, by operators, and at start-up for what an earlier process left behind."""

    def __init__(self, parts: Parts, keeper: Keeper, looker: Looker, spool: Spool, pins: Pins) -> None:
        self._parts = parts
        self._keeper = keeper
        self._looker = looker
        self._spool = spool
        self._pins = pins

    async def run(self) -> None:
        """Sweep until cancelled. A round waits for nobody: each record waits for a service of its own."""
        under_care: set[asyncio.Task[None]] = set()
        try:
            while True:
                try:
                    for task in await self._begin(_BATCH - len(under_care)):
                        under_care.add(task)
                        task.add_done_callback(under_care.discard)
                except StoreUnavailableError:
                    pass  # it says so itself, in readiness; the next round asks again
                except Exception as error:  # noqa: BLE001 - to begin again would cancel what is under care
                    self._spool.fault("sweeper", error)
                await self._parts.clock.sleep(self._parts.choices.sweep_interval_s)
        finally:
            left = tuple(under_care)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def sweep(self) -> int:
        """One round to its end; how many records were cared for."""
        tasks = await self._begin(_BATCH)
        await asyncio.gather(*tasks)
        return len(tasks)

    async def _begin(self, room: int) -> tuple[asyncio.Task[None], ...]:
        """Take what is due under care, at most `room` records; the bulkhead of look-ups bounds how many ask at once."""
        if room <= 0:
            return ()
        await self._pins.refresh()
        token = self._parts.chance.token()
        due = await self._parts.store.lease_due(token, _CARE_S, room)
        return tuple(asyncio.create_task(self._care_alone(record, token)) for record in due)

    async def _care_alone(self, record: Record, token: str) -> None:
        try:
            await self._care_and_release(record, token)
        except StoreUnavailableError:
            pass  # as above; the lease ends by itself
        except Exception as error:  # noqa: BLE001 - the last guard of a task that nobody waits for
            self._spool.fault("sweeper", error)

    async def _care_and_release(self, record: Record, token: str) -> None:
        if not await self._lease(record, token):
            return
        next_look_s = _LONGEST_S
        try:
            next_look_s = await self._next_look_s(await self.care_for(record))
        except (FencedError, IllegalMoveError):
            next_look_s = _SHORTEST_S  # somebody changed it under our hands
        except StoreUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - it is told, and looked at again later
            self._spool.fault("reconciliation", error)
        finally:
            await self._parts.store.release(record.origin.tenant, record.key, token, next_look_s)

    async def reconcile(self, record: Record) -> Record:
        """Look now, due or not: for a caller or an operator who asks."""
        token = self._parts.chance.token()
        if not await self._lease(record, token):
            return record
        cared = record
        try:
            cared = await self.care_for(record)
            return cared
        finally:
            await self._parts.store.release(record.origin.tenant, record.key, token, await self._next_look_s(cared))

    async def _lease(self, record: Record, token: str) -> bool:
        """Have the record for as long as care for it may take: a look and a replay, each of the tool's whole time."""
        tool = await self._pins.tool_of(record)
        care_s = _CARE_S if tool is None else _CARE_S + 2 * tool.timeouts.total_s
        return await self._parts.store.lease_one(record.origin.tenant, record.key, token, care_s)

    async def has_means(self, record: Record) -> bool:
        """Whether the operation's manifest declares any way to find out."""
        tool = await self._pins.tool_of(record)
        return tool is not None and (tool.reconcile.lookup is not None or tool.downstream_key is not None)

    async def care_for(self, record: Record) -> Record:
        """See a dead owner; then look, or ask again under the same key, whichever is allowed and due."""
        if record.lease_is_dead(self._parts.store.now()):
            record = await self._keeper.move(
                record,
                lambda r, now: machine.see_dead_lease(r, now=now),
                self._looker.rows(record, by="sweeper"),
            )
        tool = await self._pins.tool_of(record)
        if tool is None or record.state not in (State.UNKNOWN, State.LISTENING):
            return record
        if tool.reconcile.lookup is not None:
            record = await self._look(record, tool)
        if record.state is State.UNKNOWN and record.negatives == 0:
            terms = replay_terms(self._parts, tool, live=False)
            if replay.refusal(record, terms, wall=self._parts.store.wall()) is None:
                record = await self._replay(record, tool)
        return record

    async def _look(self, record: Record, tool: Tool) -> Record:
        parts = self._parts
        trace = parts.telemetry.reconciliation_started(tool, ReconcileMethod.LOOKUP, original=record.origin.traceparent)
        deadline = parts.clock.monotonic() + tool.timeouts.total_s
        sight = await self._looker.look(record, tool, trace, deadline=deadline)
        after = await self._looker.apply(sight, tool, trace_id=trace.trace_id)
        trace.ended(learned(after.state), operation_id=record.operation_id)
        return after

    async def _replay(self, record: Record, tool: Tool) -> Record:
        parts = self._parts
        trace = parts.telemetry.reconciliation_started(
            tool, ReconcileMethod.SAME_KEY_REPLAY, original=record.origin.traceparent
        )
        effort = Effort(parts, self._keeper, tool, record, None, changed_at=parts.store.changed_at)
        effort.by = "replay"
        plan = Plan(deadline=parts.clock.monotonic() + tool.timeouts.total_s, kind=AttemptKind.REPLAY)
        admission = await effort.admit(plan)
        running = None if isinstance(admission, Withheld) else await effort.start(plan, trace, admission)
        if isinstance(running, Running):
            outcome = await effort.ended(running)
            if effort.sent_at is not None:
                telling = afterwards(parts, tool, effort.record, trace_id=trace.trace_id)
                answer = telling.outcome(outcome, effort.record, attempts=effort.sends)
                code = ErrorCode(answer.error.code).value if answer.error is not None else None
                result = store_answer(answer, telling.identifier) if isinstance(outcome, Done | Refused) else None
                rows = self._looker.rows(record, by="replay", trace_id=trace.trace_id)
                kept = await self._spool.keep(lambda: effort.learn(outcome, rows, result=result, code=code))
                if kept and effort.record.state is State.CLAIMED:
                    await effort.give_up(rows)
            elif isinstance(outcome, NotSent) and outcome.code == OVERTAKEN:
                effort.record = await parts.store.by_key(record.origin.tenant, record.key) or record
        trace.ended(learned(effort.record.state), operation_id=record.operation_id)
        return effort.record

    async def _next_look_s(self, record: Record) -> float:
        """When to look again: at the moment a negative would count, or after a share of the time already waited."""
        if record.state is not State.UNKNOWN or record.closed_at is None:
            return _SHORTEST_S
        now = self._parts.store.now()
        tool = await self._pins.tool_of(record)
        terms = None if tool is None else lookup_terms(tool)
        due = None if terms is None else lookups.due_at(record, terms)
        backoff_s = min(_LONGEST_S, max(_SHORTEST_S, _SHARE_OF_AGE * (now - record.closed_at)))
        return backoff_s if due is None or due <= now else min(backoff_s, due - now)
