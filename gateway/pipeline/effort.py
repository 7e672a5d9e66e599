"""One operation's sends: the gate, the exchange, and what its end proves, carried to the record.

Nothing here knows whether a caller waits. An effort runs in a task that nobody cancels once a byte may have left.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.contract.execution import ExecutionRow
from gateway.contract.quick import quick
from gateway.manifest.policies import Effect
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Tool
from gateway.pipeline.keeping import HeldError, Keeper, Move, RowsOf, no_rows
from gateway.pipeline.marking import sent_mark
from gateway.pipeline.parts import Parts
from gateway.pipeline.reconciling import horizon_s, replay_terms
from gateway.pipeline.sending import (
    Admission,
    Plan,
    Withheld,
    admit,
    attempt_facts,
    evidence_of,
    exchange,
    judge,
    kind_of,
)
from gateway.stages.execute.approval.entitlement import still_stands
from gateway.stages.execute.attempt.deadline import attempt_limits
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Limits
from gateway.stages.execute.attempt.outcome import NotSent, Outcome, Refused
from gateway.stages.execute.attempt.stored_request import unpack
from gateway.stages.execute.operation import machine, replay
from gateway.stages.execute.operation.amnesia import with_attempt
from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.evidence import Evidence
from gateway.stages.execute.operation.machine import FencedError, Ownership
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import Attempt, Record, State
from gateway.stages.execute.operation.sighting import Identifier
from gateway.stages.execute.operation.table import IllegalMoveError
from gateway.stages.monitor.ports import AttemptTrace, CallTrace, ReconcileTrace

OVERTAKEN: Final = "overtaken"
"""The code of a NotSent whose gate was refused because somebody changed the record: look again."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An exchange under way."""

    task: "asyncio.Task[Exchange]"
    admission: Admission
    seen: AttemptTrace
    limits: Limits


class Effort:
    """The sends of one record. `record` is as this effort last saw it; others may have changed it since."""

    def __init__(
        self,
        parts: Parts,
        keeper: Keeper,
        tool: Tool,
        record: Record,
        request: RenderedRequest | None,
        *,
        changed_at: float | None,
        kept: bool = True,
    ) -> None:
        self._parts, self._keeper = parts, keeper
        self.tool = tool
        self.record = record
        self.kept = kept
        """The store has the record. A claim that it has not goes in with its SENT mark, or by `keep_claim`."""
        self._changed_at = changed_at
        """The store's, as of the look that led here: a plain write is sent under no other."""
        stored = record.bodies.request
        # What was once sent is what is sent again, whatever the templates would make of it today.
        self._request = unpack(stored) if stored is not None and record.attempts else request
        self.baseline: tuple[Identifier, ...] | None = None
        """Read for the next send; None: what the record has of an earlier one stands."""
        self._ownership: Ownership | None = None if record.owner is None else machine.own(record)
        self.by = "attempt"
        """What `settled_by` says of a record that this effort settles."""
        self.sends = self.tries = 0
        self._attempt: Attempt | None = None
        self.sent_at: float | None = None
        """On Clock.monotonic: when the gate of the last try was passed; None when it was not."""
        self._told_sent: Callable[[float], None] | None = None
        self._mark_in_doubt = False
        """The gate's mark may be kept although its answer was lost."""

    async def admit(self, plan: Plan, *, looks: bool = False) -> Admission | Withheld:
        """Get permit and slot. `looks`: the world is looked at first, until the caller's deadline at the longest."""
        parts, tool = self._parts, self.tool
        looks_s = max(0.0, plan.deadline - parts.clock.monotonic()) if looks else 0.0
        return await admit(parts, tool, kind=kind_of(tool), deadline=plan.deadline, told=plan.told, looks_s=looks_s)

    async def start(self, plan: Plan, trace: CallTrace | ReconcileTrace, admission: Admission) -> Running | NotSent:
        """Set the exchange going. It ends the admission."""
        parts, tool = self._parts, self.tool
        now = parts.clock.monotonic()
        limits = attempt_limits(
            tool.timeouts,
            effect=tool.effect,
            now=now,
            deadline=plan.deadline,
            result_bytes=tool.limits.result_bytes,
            fresh_connection=tool.backend.fresh_connection,
        )
        if isinstance(limits, NotSent) or self._request is None:
            await admission.end()
            return limits if isinstance(limits, NotSent) else NotSent(code=ErrorCode.GATEWAY_ERROR, retryable=False)
        self.tries += 1
        self.sent_at = None
        self._told_sent = None
        seen = trace.attempt(attempt_facts(tool, number=self.tries, kind=plan.kind, delay_s=plan.delay_s))
        sends = exchange(parts, tool, self._request, limits, seen, lambda: self._pass_gate(limits))
        task = asyncio.create_task(sends)
        return Running(task=task, admission=admission, seen=seen, limits=limits)

    def tell_sent(self, told: Callable[[float], None] | None) -> None:
        """Call `told` with `sent_at` when the gate of this try is passed; at once if it has been. None: tell nobody."""
        self._told_sent = told
        if told is not None and self.sent_at is not None:
            told(self.sent_at)

    async def ended(self, running: Running) -> Outcome:
        """The exchange's end, and what it proves of this attempt. Slot and permit are given back."""
        exchange_ended = await running.task
        outcome = self._refused_by_gate(exchange_ended) or judge(
            self._parts,
            self.tool,
            exchange_ended,
            sends=len(self.record.attempts),
            after_unknown=len(self.record.unknown_attempts()) > (1 if self.sent_at is not None else 0),
        )
        running.seen.ended(exchange_ended, outcome)
        gated = exchange_ended.fault is Fault.GATE_REFUSED
        await running.admission.end(None if gated else outcome)
        return outcome

    async def learn(
        self, outcome: Outcome, rows: RowsOf = no_rows, *, result: bytes | None, code: str | None
    ) -> Record:
        """Fold the outcome of the last try into the record. A try that never passed the gate teaches nothing.

        Args:
            result: what the record keeps as its answer, when this settles it.
            code: the envelope's error code that goes with it.
        """
        attempt = self._attempt
        if self.sent_at is None or attempt is None:
            return self.record
        settlement = Settlement(
            by=self.by,
            wall=self._parts.store.wall(),
            result=result,
            code=code if code is not None else outcome.code,
            status=None if isinstance(outcome, NotSent) else outcome.status,
        )
        evidence = evidence_of(outcome)

        def move(record: Record, now: float) -> Record:
            told, number = with_attempt(record, attempt)
            for_all = (
                isinstance(outcome, Refused)
                and not outcome.retryable
                and replay.is_authoritative(told, number, outcome.status, marked=outcome.replayed, now=now)
            )
            learned = machine.learn(told, number, evidence, settlement, now=now, authoritative=for_all)
            lost = learned is told and told is not record
            return replace(told, version=record.version + 1) if lost else learned

        self.record = await self._keeper.move(self.record, move, rows)
        return self.record

    async def keep_claim(self) -> bool:
        """See that the claim stands in the store, before anything else is made of it. False: somebody else was first."""
        if not self.kept:
            standing = await self._keeper.insert(self.record)
            # What keeps it out may be a mark of our own whose answer was lost.
            standing = standing or await self._parts.store.by_key(self.record.origin.tenant, self.record.key)
            self.kept = standing is not None and standing.owner == self.record.owner
        return self.kept

    async def give_up(self, rows: RowsOf = no_rows) -> Record:
        """End a claim of which nothing was sent."""
        ownership = self._ownership
        if ownership is None or self.record.state is not State.CLAIMED:
            return self.record
        if not await self.keep_claim():
            raise FencedError
        if self._mark_in_doubt:
            await self._take_back(ownership)
        self.record = await self._keeper.move(self.record, lambda r, now: machine.give_up(r, ownership, now=now), rows)
        return self.record

    async def _take_back(self, ownership: Ownership) -> None:
        """Say of a SENT mark that nothing was sent on it."""
        current = await self._parts.store.by_key(self.record.origin.tenant, self.record.key)
        if current is not None and current.state is State.SENT and machine.own(current) == ownership:
            number, word = len(current.attempts), Settlement(by=self.by, wall=self._parts.store.wall())
            self.record = await self._keeper.move(
                current, lambda r, now: machine.learn(r, number, Evidence.NOT_SENT, word, now=now)
            )

    async def answer_caller(self, rows: RowsOf) -> Record:
        """The caller is told *unknown* while the socket stays open."""
        ownership = self._ownership
        if ownership is None:
            raise FencedError
        self.record = await self._keeper.move(self.record, lambda r, _: machine.answer_caller(r, ownership), rows)
        return self.record

    async def append(self, row: ExecutionRow) -> None:
        """Keep the row of an envelope that leaves the record as it is."""
        await self._keeper.append(row, strict=True)

    async def extend(self) -> None:
        """One heartbeat; nothing when the record is not owned by this effort any more."""
        ownership = self._ownership
        if ownership is None or not self.kept:
            return
        extended = await self._keeper.extend(self.record, ownership, self._parts.choices.lease_s)
        self.record = extended if extended.version > self.record.version else self.record

    def replay_until(self) -> float | None:
        """Until when (Clock.monotonic) the stored bytes may go out again within this call; None: not at all."""
        parts, tool, record = self._parts, self.tool, self.record
        if not record.unknown_attempts():
            return None
        now = parts.clock.monotonic()
        if tool.effect is Effect.IDEMPOTENT and tool.downstream_key is None:
            # Without holds another call may have been told meanwhile that it was carried out: this would undo it.
            return now + tool.timeouts.total_s if self.sends and tool.holds else None
        terms, wall, first = replay_terms(parts, tool, live=True), parts.store.wall(), record.first_sent_wall
        if terms is None or first is None or replay.refusal(record, terms, wall=wall) is not None:
            return None
        return now + (first + terms.window_s - terms.horizon_s - terms.send_within_s - wall)

    async def _pass_gate(self, limits: Limits) -> float:
        parts, request = self._parts, self._request
        if request is None or self._is_elsewhere():
            raise FencedError
        mark = sent_mark(parts, self.tool, request, limits, ownership=self._ownership, baseline=self.baseline)
        marked = await self._marked(mark)
        if self._is_elsewhere():
            self._mark_in_doubt = True  # it stands in that memory, perhaps
            raise FencedError
        self.record = marked
        self._ownership = machine.own(self.record)
        self._attempt = self.record.attempts[-1]
        self.sends += 1
        self.sent_at = parts.clock.monotonic()
        if self._told_sent is not None:
            self._told_sent(self.sent_at)
        return self.sent_at + (self.record.attempts[-1].acts_until - horizon_s(self.tool) - parts.store.now())

    def _is_elsewhere(self) -> bool:
        """Whether a write that no downstream knows again meets another memory than was looked at, which may lack the same."""
        return self._parts.store.changed_at != self._changed_at and self.tool.is_plain_write

    async def _marked(self, mark: Move) -> Record:
        """The record with its SENT mark, durable."""
        if self.kept:
            terms, approvers = self.tool.approval, self._parts.approvers
            return await self._keeper.move(
                self.record, mark, leased=True, entitled=lambda approval: still_stands(approval, terms, approvers)
            )
        marked = await self._keeper.insert(self.record, mark)
        if marked is not None:
            self.kept = True
            return marked
        # What keeps it out may be a claim of our own of which no answer came.
        if not await self.keep_claim():
            raise FencedError
        return await self._marked(mark)

    def _refused_by_gate(self, ended: Exchange) -> NotSent | None:
        """Why our own gate let nothing out, where it was the gate."""
        if ended.fault is not Fault.GATE_REFUSED:
            return None
        if isinstance(ended.cause, StoreUnavailableError):
            self._mark_in_doubt = True
            return NotSent(code=ErrorCode.STORE_UNAVAILABLE, retryable=False)
        if isinstance(ended.cause, FencedError | IllegalMoveError | HeldError):
            return NotSent(code=OVERTAKEN, retryable=False)
        if ended.cause is not None:
            self._parts.faults(f"the gate of {self.tool.name}", ended.cause)
        return NotSent(code=ErrorCode.GATEWAY_ERROR, retryable=False)
