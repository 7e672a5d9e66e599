"""A write meets its record before anything else: it claims it and acts, or answers from what is there."""

import asyncio
import contextlib
from enum import Enum, auto
from typing import Final, assert_never

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.manifest.tool import Tool
from gateway.pipeline.claiming import Claims
from gateway.pipeline.keeping import HeldError, Keeper
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.pipeline.questions import may_see
from gateway.pipeline.recalling import Recall, looks
from gateway.pipeline.reconciling import Looker, replay_terms
from gateway.pipeline.telling import rfc3339, suggestion
from gateway.pipeline.visit import Step, Visit
from gateway.pipeline.waiting import WaitingRoom
from gateway.stages.execute.operation import machine, replay
from gateway.stages.execute.operation.amnesia import unsure_for_s
from gateway.stages.execute.operation.intention import differing, former_keys, today
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.meeting import (
    Answered,
    Begin,
    BeginAgain,
    Conflict,
    Forgotten,
    Frozen,
    Held,
    InDoubt,
    MayBegin,
    Meeting,
    NoRecord,
    NotRepeatable,
    OwnRecord,
    Running,
    SeeDead,
    TakeOver,
    as_kept,
    meet,
    meet_holders,
)
from gateway.stages.execute.operation.ports import Snapshot
from gateway.stages.execute.operation.record import RUNNING, Record, State
from gateway.stages.feedback.context import Blocker, Suggestion
from gateway.stages.feedback.words import ELLIPSIS
from gateway.stages.monitor.outcome import learned
from gateway.stages.monitor.ports import IdempotencyResult, LinkType, ReconcileMethod

NOT_DONE_BEFORE: Final = (
    "Nothing was executed: repeat_of names no operation of this call's identity that was done. "
    "Name the operation_id of the one that is to be done once more, or leave repeat_of out."
)
# How often a call that waits looks at the record itself: the owner may be another process, or dead.
_FIRST_POLL_S, _LONGEST_POLL_S = 0.05, 0.5


class _Wait(Enum):
    LOOK = auto()
    """Something has changed: look at the record."""
    OVER = auto()
    """The caller's time is over, or nobody more may wait."""


class Writes:
    """Stages 2 and 3 of a write."""

    def __init__(
        self, parts: Parts, keeper: Keeper, looker: Looker, room: WaitingRoom, claims: Claims, pins: Pins
    ) -> None:
        self._parts = parts
        self._keeper = keeper
        self._looker = looker
        self._room = room
        self._claims = claims
        self._pins = pins
        self._recall = Recall(parts, keeper, looker, claims)

    async def run(self, visit: Visit) -> Envelope:
        """Meet the record until there is an answer.

        Raises:
            StoreUnavailableError: the record could not be read or claimed; nothing was sent.
        """
        while True:
            meeting = await self.meet(visit)
            visit.telling.met = meeting.record if isinstance(meeting, Running | InDoubt | Frozen) else None
            try:
                answer = _stale(meeting, visit) or self._unsure(meeting, visit) or await self._act(meeting, visit)
            except HeldError as held:
                answer = await self._held(held.holder, visit)
            if answer is not None:
                return answer

    async def meet(self, visit: Visit) -> Meeting:
        """What stands in the store about this call's operation and its holds, and what that means for it."""
        own, snapshot = await self.meet_own(visit)
        return meet_holders(own, visit.intention.holds, snapshot.holders, now=snapshot.now)

    async def meet_own(self, visit: Visit) -> "tuple[OwnRecord | NoRecord | NotRepeatable, Snapshot]":
        """The same for the operation alone, whoever stands on its holds."""
        store, intention = self._parts.store, visit.intention
        former = former_keys(self._pins.former(intention.tool), visit.call, visit.telling.caller)
        snapshot = await store.look(intention.origin.tenant, (intention.identity_key, *former), intention.holds)
        unsure = self._unsure_for_s(visit, snapshot.now) > 0 and looks(intention.tool)
        occurrences = [today(record, intention.tool) for record in snapshot.occurrences]
        newcomer = intention.newcomer(visit.call, epoch=store.epoch, unsure=unsure)
        met = meet(occurrences, newcomer, now=snapshot.now, wall=store.wall())
        return as_kept(met, snapshot.occurrences), snapshot

    def _unsure_for_s(self, visit: Visit, now: float) -> float:
        """How long a write of this tool may still be under way that the store has forgotten."""
        tool = visit.intention.tool
        if not tool.is_plain_write:
            return 0.0
        longest_s = tool.timeouts.total_s + tool.timeouts.grace_s + self._parts.bounds.lease_s
        return unsure_for_s(self._parts.store.changed_at, now=now, longest_s=longest_s)

    def _unsure(self, meeting: Meeting, visit: Visit) -> Step:
        """The store has forgotten something, and nothing could tell this write from one that it has forgotten."""
        wait_s = self._unsure_for_s(visit, self._parts.store.now())
        asks_first = isinstance(meeting, Forgotten) and looks(visit.intention.tool)
        if wait_s <= 0 or asks_first or not isinstance(meeting, MayBegin):
            return None
        visit.telling.idempotency = IdempotencyResult.STORE_ERROR
        return visit.telling.refuse(ErrorCode.STORE_UNAVAILABLE, retry_after_s=wait_s)

    async def _act(self, meeting: Meeting, visit: Visit) -> Step:
        match meeting:
            case Begin() | BeginAgain() | TakeOver():
                return await self._claims.start(meeting, visit)
            case Forgotten():
                return await self._recall.start(meeting, visit)
            case SeeDead(record=record):
                with contextlib.suppress(FencedError):
                    await self._keeper.move(record, lambda r, now: machine.see_dead_lease(r, now=now))
                return None
            case Answered(record=record) | Frozen(record=record):
                return self._answered(record, visit)
            case Conflict(record=record):
                return self._conflict(record, visit)
            case Running(record=record):
                return await self._running(record, visit)
            case InDoubt(record=record):
                return await self._in_doubt(record, visit)
            case Held(holder=holder):
                return await self._held(holder, visit)
            case NotRepeatable():
                return visit.telling.refuse(ErrorCode.REPEAT_NOT_ALLOWED, message=NOT_DONE_BEFORE)
            case _:
                assert_never(meeting)

    def _answered(self, record: Record, visit: Visit) -> Envelope:
        telling, tool = visit.telling, visit.intention.tool
        if record.state is State.FROZEN:
            telling.idempotency = IdempotencyResult.UNKNOWN
            return telling.stored(record)
        telling.idempotency = IdempotencyResult.REPLAYED
        visit.trace.link(record.origin.traceparent, LinkType.ORIGINAL_EXECUTION)
        other = differing(tool, record.bodies.arguments, visit.intention.arguments, material=False)
        if other and not record.tombstone:
            names = ", ".join(other)
            telling.warn(f"This is the stored answer of an earlier call that differed in {names}; it was not repeated.")
        key, first_key = visit.call.idempotency_key, record.origin.caller_key
        if key is not None and first_key is not None and key != first_key:
            telling.warn("An earlier call of the same operation came with another Idempotency-Key.")
        return telling.stored(record)

    def _conflict(self, record: Record, visit: Visit) -> Envelope:
        visit.telling.idempotency = IdempotencyResult.CONFLICT
        names = differing(visit.intention.tool, record.bodies.arguments, visit.intention.arguments, material=True)
        return visit.telling.refuse(
            ErrorCode.IDEMPOTENCY_CONFLICT,
            record=record,
            differing=() if record.tombstone else names,
            state=record.state.value,
            operation_id=record.operation_id,
            settled_at=rfc3339(record.settled_wall),
        )

    async def _running(self, record: Record, visit: Visit) -> Step:
        visit.telling.idempotency = IdempotencyResult.IN_FLIGHT
        told = await self._wait_for(record, visit)
        if isinstance(told, Envelope):
            return visit.telling.adopt(told)
        if told is _Wait.LOOK:
            return None
        return visit.telling.stored(record, retry_after_s=1.0)

    async def _held(self, holder: Record, visit: Visit) -> Step:
        if holder.state in RUNNING:
            told = await self._wait_for(holder, visit)
            if told is not _Wait.OVER:
                return None
            return visit.telling.refuse(ErrorCode.DEADLINE_BEFORE_SEND)
        hold = next((h for h in visit.intention.holds if h in holder.holds), None)
        argument = None if hold is None else visit.intention.tool.holds[hold.name]
        blocker = Blocker(
            tool=holder.origin.tool,
            operation_id=holder.operation_id,
            hold="" if hold is None else hold.name,
            value=None if argument is None else visit.intention.arguments[argument],
            verify=await self._verify(holder, visit.telling.caller),
        )
        return visit.telling.refuse(ErrorCode.BLOCKED_BY_UNKNOWN, blocker=blocker, state=holder.state.value)

    async def _verify(self, holder: Record, caller: Caller) -> Suggestion | None:
        """How this caller may find out about another operation: only who may see it and do the same is told its values."""
        tool = await self._pins.tool_of(holder)
        if tool is None or tool.permission not in caller.permissions or not may_see(holder, caller):
            return None
        masked = {name: ELLIPSIS for name in tool.sensitive if name in holder.bodies.arguments}
        return suggestion(tool, {**holder.bodies.arguments, **masked}, holder.key)

    async def _wait_for(self, record: Record, visit: Visit) -> "Envelope | _Wait":
        """Wait for `record` to move on: for its owner's word, or for what the store shows."""
        clock = self._parts.clock
        seat = self._room.sit(record.key)
        if seat is None:
            return _Wait.OVER
        poll_s, version = _FIRST_POLL_S, record.version
        try:
            while (left_s := visit.deadline - clock.monotonic()) > 0:
                done, _ = await asyncio.wait({seat}, timeout=min(left_s, poll_s * (0.5 + self._parts.chance.draw())))
                if done:
                    answer = seat.result()
                    return _Wait.LOOK if answer is None or answer.ok else answer
                poll_s = min(2 * poll_s, _LONGEST_POLL_S)
                current = await self._parts.store.by_key(record.origin.tenant, record.key)
                if current is None or current.lease_is_dead(self._parts.store.now()):
                    return _Wait.LOOK
                if current.version != version and current.state not in RUNNING:
                    return _Wait.LOOK
            return _Wait.OVER
        finally:
            self._room.rise(record.key, seat)

    async def _in_doubt(self, record: Record, visit: Visit) -> Step:
        """Its outcome is unknown: ask again under the same key where that is safe, else look; never act anew."""
        visit.telling.idempotency = IdempotencyResult.UNKNOWN
        # What was sent is settled by the contract under which it was sent, whatever the manifest says today.
        tool = await self._pins.tool_of(record)
        if tool is None:
            return visit.telling.stored(record)
        terms = replay_terms(self._parts, tool, live=True)
        allowed = replay.refusal(record, terms, wall=self._parts.store.wall()) is None
        if record.state is State.UNKNOWN and allowed and await self._claims.may_replay(record, visit):
            return await self._claims.undertake(visit, record, None, tool)
        settled = await self._look(record, tool, visit)
        if settled.state not in (State.UNKNOWN, State.LISTENING):
            return None
        return visit.telling.stored(settled)

    async def _look(self, record: Record, tool: Tool, visit: Visit) -> Record:
        """One look-up, if the manifest lets a caller be held for it."""
        parts = self._parts
        until = min(visit.deadline, parts.clock.monotonic() + tool.reconcile.inline_s)
        if tool.reconcile.lookup is None:
            return record
        trace = visit.trace.reconcile(ReconcileMethod.LOOKUP)
        sight = await self._looker.look(record, tool, trace, deadline=until)
        settled = await self._looker.apply(sight, tool, trace_id=trace.trace_id)
        trace.ended(learned(settled.state), operation_id=record.operation_id)
        return settled


def _stale(meeting: Meeting, visit: Visit) -> Step:
    """The call was prepared for another operation than the one that stands here."""
    expect = visit.call.expect
    if expect is None or expect.operation_key is None or not isinstance(meeting, OwnRecord):
        return None
    if meeting.record.key == expect.operation_key:
        return None
    return visit.telling.refuse(ErrorCode.INTENT_STALE, record=meeting.record)
