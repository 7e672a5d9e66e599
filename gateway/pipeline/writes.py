"""A write meets its record before anything else: it claims it and acts, or answers from what is there."""

import asyncio
import contextlib
from collections.abc import Sequence
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
from gateway.pipeline.recorded import recorded
from gateway.pipeline.telling import suggestion
from gateway.pipeline.visit import Step, Visit
from gateway.pipeline.waiting import WaitingRoom
from gateway.stages.execute.operation import machine, replay
from gateway.stages.execute.operation.amnesia import unsure_for_s
from gateway.stages.execute.operation.intention import former_holds, former_keys, today
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
from gateway.stages.execute.operation.record import RUNNING, Hold, Record, State
from gateway.stages.feedback.context import Blocker, Suggestion
from gateway.stages.feedback.words import ELLIPSIS
from gateway.stages.monitor.outcome import learned
from gateway.stages.monitor.ports import IdempotencyResult, ReconcileMethod

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

    async def look(self, visit: Visit) -> Meeting | Envelope:
        """Meet the record: the answer that it has, or what the call is to do about it.

        Raises:
            StoreUnavailableError: it could not be read.
        """
        meeting = await self._meet(visit)
        return recorded(meeting, visit) or meeting

    async def run(self, meeting: Meeting, visit: Visit) -> Envelope:
        """Do what the meeting asks for, and meet the record again, until there is an answer.

        Raises:
            StoreUnavailableError: the record could not be read or claimed; nothing was sent.
        """
        while True:
            try:
                answer = self._unsure(meeting, visit) or await self._act(meeting, visit)
            except HeldError as held:
                answer = await self._held(held.holder, visit)
            if answer is not None:
                return answer
            seen = await self.look(visit)
            if isinstance(seen, Envelope):
                return seen
            meeting = seen

    async def _meet(self, visit: Visit) -> Meeting:
        """What stands in the store about this call's operation and its holds, and what that means for it."""
        holds = self._holds(visit)
        own, snapshot = await self.meet_own(visit, holds)
        meeting = meet_holders(own, holds, snapshot.holders, now=snapshot.now)
        visit.telling.met = meeting.record if isinstance(meeting, Running | InDoubt | Frozen) else None
        return meeting

    async def meet_own(
        self, visit: Visit, holds: Sequence[Hold] = ()
    ) -> "tuple[OwnRecord | NoRecord | NotRepeatable, Snapshot]":
        """What the call meets of its own operation, whoever stands on its holds; and what was read, `holds` included."""
        store, intention = self._parts.store, visit.intention
        keys = former_keys(self._pins.former(intention.tool), visit.call, visit.telling.caller)
        snapshot = await store.look(intention.origin.tenant, (intention.identity_key, *keys), holds)
        # By the time of the answer: `now()` of the store does not go back with a server's clock that is behind the last one's.
        visit.changed_at, visit.unsure_s = snapshot.changed_at, self._unsure_for_s(visit, snapshot)
        unsure = visit.unsure_s > 0 and looks(intention.tool)
        occurrences = [today(record, intention.tool) for record in snapshot.occurrences]
        newcomer = intention.newcomer(visit.call, epoch=store.epoch, unsure=unsure)
        met = meet(occurrences, newcomer, now=snapshot.now, wall_as_of=store.wall_as_of)
        return as_kept(met, snapshot.occurrences), snapshot

    def _holds(self, visit: Visit) -> tuple[Hold, ...]:
        """Its own holds, and those on which records of an earlier revision may stand."""
        former = self._pins.former(visit.intention.tool)
        return visit.intention.holds + former_holds(former, visit.call, visit.telling.caller)

    def _unsure_for_s(self, visit: Visit, seen: Snapshot) -> float:
        """How long a write of this tool may still be under way that the store has forgotten."""
        tool = visit.intention.tool
        if not tool.is_plain_write:
            return 0.0
        longest_s = tool.timeouts.total_s + tool.timeouts.grace_s + self._parts.choices.lease_s
        return unsure_for_s(seen.changed_at, now=seen.now, longest_s=longest_s)

    def _unsure(self, meeting: Meeting, visit: Visit) -> Step:
        """The store has forgotten something, and nothing could tell this write from one that it has forgotten."""
        asks_first = isinstance(meeting, Forgotten) and looks(visit.intention.tool)
        if visit.unsure_s <= 0 or asks_first or not isinstance(meeting, MayBegin):
            return None
        visit.telling.idempotency = IdempotencyResult.STORE_ERROR
        return visit.telling.refuse(ErrorCode.STORE_UNAVAILABLE, retry_after_s=visit.unsure_s)

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
            case Answered() | Conflict() | Frozen():
                return recorded(meeting, visit)
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

    async def _running(self, record: Record, visit: Visit) -> Step:
        visit.telling.idempotency = IdempotencyResult.IN_FLIGHT
        told = await self._wait_for(record, visit)
        if isinstance(told, Envelope):
            return visit.telling.adopt(told)
        return None if told is _Wait.LOOK else visit.telling.stored(record, retry_after_s=1.0)

    async def _held(self, holder: Record, visit: Visit) -> Step:
        if holder.state in RUNNING:
            if await self._wait_for(holder, visit) is not _Wait.OVER:
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
