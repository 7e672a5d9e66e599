"""How one live call's write ends: what its caller is told, and the record and row that go with it, in one commit.

The envelope is made from the record as it stands after the evidence was folded in, never from the attempt alone.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.pipeline.effort import Effort, Running
from gateway.pipeline.keeping import RowsOf
from gateway.pipeline.parts import Parts
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.sending import Withheld
from gateway.pipeline.spool import Spool
from gateway.pipeline.telling import Telling
from gateway.stages.execute.attempt.outcome import Done, Outcome, Refused, Unknown
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import SETTLED, UNSETTLED, Record, State
from gateway.stages.execute.operation.table import IllegalMoveError
from gateway.stages.monitor.ports import CallTrace, ReconcileMethod, ReconcileResult
from gateway.stages.normalise.stored import store_answer

# Between two looks for a caller who is held: soon enough to be worth holding, far enough not to hammer a slow service.
_LOOK_EVERY_S = 0.5


class Ending:
    """Words and records of one effort's end."""

    def __init__(
        self, parts: Parts, looker: Looker, spool: Spool, telling: Telling, trace: CallTrace, effort: Effort
    ) -> None:
        self._parts = parts
        self._looker = looker
        self._spool = spool
        self._telling = telling
        self._trace = trace
        self._effort = effort
        self._fingerprint = effort.record.fingerprint

    async def withheld(self, withheld: Withheld) -> Envelope:
        """We did not send again, or at all, for a reason of our own."""
        effort = self._effort
        if effort.record.state is not State.CLAIMED:
            return await self._kept(self._unknown(effort.record, ErrorCode.OUTCOME_UNKNOWN), self._row)
        envelope = self._telling.withhold(withheld)
        return await self._kept(envelope, lambda told: effort.give_up(self._rows_of(told)))

    async def listening(self) -> Envelope:
        """The caller has waited long enough; the socket stays open."""
        envelope = self._unknown(self._effort.record, ErrorCode.TIMEOUT_UNKNOWN_OUTCOME)
        return await self._kept(envelope, lambda told: self._effort.answer_caller(self._rows_of(told)))

    async def found(self) -> Envelope:
        """A look-up settled it while the caller was held. The settlement has its row; this answer needs its own."""
        return await self._kept(self._telling.stored(self._effort.record, attempts=self._effort.sends), self._row)

    async def concluded(self, outcome: Outcome) -> Envelope:
        """The last attempt has ended: settle, give up, or say *unknown*."""
        effort = self._effort
        answer, result, code = self._worded(outcome)

        kept = await self._kept(answer, lambda _: self._settle(outcome, answer, result, code))
        if kept.meta.recorded:
            return self._fitting(effort.record, outcome, kept)
        # The record could not take the outcome in; the attempts before it are in doubt all the same.
        earlier = [
            a for a in effort.record.unknown_attempts() if effort.sent_at is None or a is not effort.record.attempts[-1]
        ]
        if earlier and not isinstance(outcome, Done):
            return _unrecorded(self._unknown(effort.record, ErrorCode.OUTCOME_UNKNOWN))
        return kept

    async def _settle(self, outcome: Outcome, answer: Envelope, result: bytes | None, code: str | None) -> None:
        effort, rows = self._effort, self._last_rows(outcome, answer)
        if effort.sent_at is not None and effort.record.state in UNSETTLED:
            await effort.learn(outcome, rows, result=result, code=code)
        elif effort.record.state is not State.CLAIMED:
            await self._row(self._fitting(effort.record, outcome, answer))
        if effort.record.state is State.CLAIMED:
            await effort.give_up(rows)

    def _last_rows(self, outcome: Outcome, answer: Envelope) -> RowsOf:
        # A claim is not the end: the row goes with giving it up.
        return lambda record: (
            () if record.state is State.CLAIMED else (self._telling.row(self._fitting(record, outcome, answer)),)
        )

    async def heard(self, running: Running) -> None:
        """Listening has ended: what it brought is kept, whoever owns the record by now."""
        effort, telling = self._effort, self._telling
        effort.by = "late_answer"
        outcome = await effort.ended(running)
        before = effort.record
        _, result, code = self._worded(outcome)
        rows = self._looker.rows(before, by=effort.by, trace_id=telling.trace_id)
        await self._spool.keep(lambda: effort.learn(outcome, rows, result=result, code=code))

    async def look_while_held(self, until: float, running: Running | None) -> bool:
        """Look-ups until one proves the effect (True). A negative proves nothing here: the request is under way."""
        effort, clock = self._effort, self._parts.clock
        if effort.tool.reconcile.lookup is None or clock.monotonic() >= until:
            return False
        trace = self._trace.reconcile(ReconcileMethod.LOOKUP)
        found = False
        while not found and clock.monotonic() < until and (running is None or not running.task.done()):
            # With the store away a look shows nothing; the exchange that is under way must not be given up for it.
            with contextlib.suppress(StoreUnavailableError):
                sight = await self._looker.look(effort.record, effort.tool, trace, deadline=until)
                if sight.matches:
                    effort.record = await self._looker.apply(sight, effort.tool, trace_id=trace.trace_id)
                    found = effort.record.state in (State.DONE, State.FROZEN) and self._speaks_of(effort.record)
            if not found:
                await self._pause(min(_LOOK_EVERY_S, max(0.0, until - clock.monotonic())), running)
        result = ReconcileResult.DONE if found else ReconcileResult.STILL_UNKNOWN
        trace.ended(result, operation_id=effort.record.operation_id)
        return found

    def after_fault(self) -> Envelope:
        """Something of our own raised. What the record says decides what may be claimed."""
        unknown = self._effort.sent_at is not None or bool(self._effort.record.unknown_attempts())
        code = ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME if unknown else ErrorCode.GATEWAY_ERROR
        envelope = self._telling.refuse(code, record=self._effort.record, attempts=self._effort.sends)
        self._spool.later(lambda: self._row(envelope))
        return _unrecorded(envelope)

    def _worded(self, outcome: Outcome) -> tuple[Envelope, bytes | None, str | None]:
        """The envelope of an outcome, and what the record keeps of it when it is settled by it."""
        effort = self._effort
        answer = self._telling.outcome(outcome, effort.record, attempts=effort.sends, waited_s=self._waited())
        code = None if answer.error is None else answer.error.code.value
        settles = isinstance(outcome, Done | Refused)
        return answer, store_answer(answer, self._telling.identifier) if settles else None, code

    def _fitting(self, record: Record, outcome: Outcome, answer: Envelope) -> Envelope:
        """The envelope that fits the record after the outcome was folded into it."""
        match record.state:
            case State.UNKNOWN if isinstance(outcome, Refused) and not self._speaks_of(record):
                return answer
            case State.UNKNOWN | State.SENT | State.LISTENING:
                if answer.error is not None and answer.error.outcome is CallOutcome.UNKNOWN:
                    return answer
                first = next((a.code for a in record.unknown_attempts() if a.code), None)
                return self._unknown(record, ErrorCode(first) if first is not None else ErrorCode.OUTCOME_UNKNOWN)
            case State.FROZEN:
                return self._telling.stored(record, attempts=self._effort.sends)
            case State.DONE if not isinstance(outcome, Done) and self._speaks_of(record):
                return self._telling.stored(record, attempts=self._effort.sends)
            case _:
                return answer

    def _unknown(self, record: Record, code: ErrorCode) -> Envelope:
        return self._telling.outcome(Unknown(code=code), record, attempts=self._effort.sends, waited_s=self._waited())

    def _waited(self) -> float | None:
        sent_at = self._effort.sent_at
        return None if sent_at is None else self._parts.clock.monotonic() - sent_at

    async def _kept(self, envelope: Envelope, keep: Callable[[Envelope], Awaitable[Any]]) -> Envelope:
        """Keep an envelope's record and row. With the store away the truth is told all the same, and kept later."""
        try:
            await keep(envelope)
        except StoreUnavailableError:
            self._spool.later(lambda: self._keep_late(envelope, keep))
            return _unrecorded(envelope)
        except (FencedError, IllegalMoveError):
            # Somebody settled or took the record first; it knows more than this call does.
            return await self._kept(await self._told_by_others(envelope), self._row)
        return envelope

    async def _keep_late(self, envelope: Envelope, keep: Callable[[Envelope], Awaitable[Any]]) -> None:
        """The record may have moved on since; the row of what was told is kept all the same."""
        try:
            await keep(envelope)
        except (FencedError, IllegalMoveError):
            await self._row(envelope)

    async def _told_by_others(self, envelope: Envelope) -> Envelope:
        current = await self._parts.store.by_key(self._effort.record.origin.tenant, self._effort.record.key)
        settled = current is not None and current.state in SETTLED and self._speaks_of(current)
        if current is None or not settled:
            return envelope
        self._effort.record = current
        return self._telling.stored(current, attempts=self._effort.sends)

    def _speaks_of(self, record: Record) -> bool:
        """Whether what a record says is said of this call, and not of one with other material arguments."""
        return record.state is State.FROZEN or record.fingerprint == self._fingerprint

    async def _row(self, envelope: Envelope) -> None:
        await self._effort.append(self._telling.row(envelope))

    def _rows_of(self, envelope: Envelope) -> RowsOf:
        return lambda _: (self._telling.row(envelope),)

    async def _pause(self, seconds: float, running: Running | None) -> None:
        pause = asyncio.ensure_future(self._parts.clock.sleep(seconds))
        others: set[asyncio.Future[Any]] = {pause} if running is None else {pause, running.task}
        await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        pause.cancel()


def _unrecorded(envelope: Envelope) -> Envelope:
    return replace(envelope, meta=replace(envelope.meta, recorded=False))
