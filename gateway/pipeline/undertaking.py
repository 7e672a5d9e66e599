"""One live call's write, from its claim to whatever becomes of it, in tasks that nobody cancels.

`run` comes to the answer that the caller waits for. Where that is *unknown* because the caller could wait no longer,
`listen` goes on until the outcome of what was sent is heard.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from gateway.clock import Clock
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.manifest.policies import Timeouts
from gateway.pipeline.effort import OVERTAKEN, Effort, Running
from gateway.pipeline.ending import Ending
from gateway.pipeline.parts import Parts
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.sending import Admission, Plan, Withheld
from gateway.pipeline.spool import Spool
from gateway.stages.execute.attempt.deadline import caller_waits_until
from gateway.stages.execute.attempt.outcome import NotSent, Outcome, Unknown
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import State
from gateway.stages.execute.operation.table import IllegalMoveError
from gateway.stages.monitor.ports import AttemptKind, CallTrace
from gateway.stages.retry.decision import RetryAfter, decide, objection


@dataclass(frozen=True, slots=True)
class LookAgain:
    """Somebody changed the record, or stands on a hold: the call passes the meeting once more."""


class _CallersWait:
    """For the end of an exchange; `over` is done then, or when it has waited long enough after the send.

    No functions inside the coroutine that waits: compiled, they and what they share hold each other.
    """

    def __init__(self, clock: Clock, timeouts: Timeouts, deadline: float) -> None:
        self._clock = clock
        self._timeouts = timeouts
        self._deadline = deadline
        self._timer: asyncio.TimerHandle | None = None
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def end(self, _: object = None) -> None:
        """The exchange has ended, or the timer has rung."""
        if not self.over.done():
            self.over.set_result(None)

    def sent(self, at: float) -> None:
        """The request went out."""
        until = caller_waits_until(self._timeouts, sent_at=at, deadline=self._deadline)
        left_s = max(0.0, until - self._clock.monotonic())
        self._timer = asyncio.get_running_loop().call_later(left_s, self.end)

    def forget_timer(self) -> None:
        """Nobody waits any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Undertaking:
    """Drives an effort for a caller: attempts, retries, the early answer, listening."""

    def __init__(
        self,
        parts: Parts,
        looker: Looker,
        spool: Spool,
        trace: CallTrace,
        effort: Effort,
        ending: Ending,
        deadline: float,
    ) -> None:
        self._parts = parts
        self._looker = looker
        self._spool = spool
        self._trace = trace
        self._ending = ending
        self._deadline = deadline
        self.effort = effort
        self.listens: Running | None = None
        """The caller was answered while this socket was still open: `listen` is to follow."""

    async def run(self) -> Envelope | LookAgain:
        """Carry it to its answer. Whatever happens, there is one, of what is proved."""
        try:
            return await self._attempts()
        except Exception as error:  # noqa: BLE001 - the last guard: its caller must not wait for ever
            self._spool.fault("undertaking", error)
            return self._ending.after_fault()

    async def listen(self) -> None:
        """Hear what became of it."""
        if self.listens is None:
            return
        try:
            await self._ending.heard(self.listens)
        except Exception as error:  # noqa: BLE001 - the last guard of a task that nobody waits for
            self._spool.fault("undertaking", error)

    async def _attempts(self) -> Envelope | LookAgain:
        effort, parts, scope = self.effort, self._parts, self.effort.tool.breaker.scope
        kind = AttemptKind.REPLAY if effort.record.attempts else AttemptKind.FIRST
        plan = Plan(deadline=self._deadline, kind=kind, told=self._trace.asked)
        parts.budgets.earn(scope, effort.tool.retry.budget)
        while True:
            running = await self._begin(plan)
            if isinstance(running, Running):
                if not await self._caller_waits_for(running):
                    return await self._answer_early(running)
                outcome: Outcome | Withheld = await effort.ended(running)
            else:
                outcome = running
            if outcome.code == OVERTAKEN or not await self._claim_stands(outcome):
                return await self._overtaken()
            if isinstance(outcome, Withheld):
                return await self._ending.withheld(outcome)
            delay_s = await self._again(outcome)
            if delay_s is None:
                return await self._conclude(outcome)
            parts.budgets.spend(scope)
            await parts.clock.sleep(delay_s)
            plan = Plan(deadline=self._deadline, kind=AttemptKind.RETRY, delay_s=delay_s, told=self._trace.asked)

    async def _begin(self, plan: Plan) -> Running | Withheld | NotSent:
        effort = self.effort
        effort.baseline = None
        looks = effort.tool.reconcile.reads_first and effort.record.has_done_nothing()
        admission = await effort.admit(plan, looks=looks)
        if isinstance(admission, Withheld):
            return admission
        if looks:
            unseen = await self._see_baseline(admission)
            if unseen is not None:
                return unseen
        return await effort.start(plan, self._trace, admission)

    async def _see_baseline(self, admission: Admission) -> Withheld | NotSent | None:
        """What is there before the first send; why nothing is sent, with the admission ended, where it is not seen."""
        effort = self.effort
        try:
            seen = await self._looker.baseline(
                effort.record, effort.tool, self._trace, deadline=self._deadline, under=admission
            )
        except BaseException:
            # A probe that never left must not keep the breaker's one lease.
            await admission.end()
            raise
        if seen is None or isinstance(seen, Withheld):
            await admission.end()
        if isinstance(seen, Withheld):
            return seen
        if seen is None:
            # Without it, what was there before could later be taken for ours.
            effort.tries += 1
            return NotSent(code=ErrorCode.UNAVAILABLE, retryable=True)
        effort.baseline = seen
        return None

    async def _caller_waits_for(self, running: Running) -> bool:
        """Wait until the exchange ends (True), or until the caller has waited long enough after the send (False)."""
        wait = _CallersWait(self._parts.clock, self.effort.tool.timeouts, self._deadline)
        self.effort.tell_sent(wait.sent)
        running.task.add_done_callback(wait.end)
        try:
            await wait.over
        finally:
            # Or this undertaking, its effort and all that they hold would be a ring, left for the collector.
            self.effort.tell_sent(None)
            running.task.remove_done_callback(wait.end)
            wait.forget_timer()
        return running.task.done()

    async def _again(self, outcome: Outcome) -> float | None:
        """The wait before another attempt, with the record brought up to it; None when this attempt was the last."""
        effort, tool, parts = self.effort, self.effort.tool, self._parts
        keyed, attempt = tool.downstream_key is not None, max(effort.tries, 1)
        if objection(outcome, effect=tool.effect, keyed=keyed, attempt=attempt, policy=tool.retry) is not None:
            return None
        try:
            await effort.learn(outcome, result=None, code=outcome.code)
        except StoreUnavailableError:
            return None
        again = decide(
            outcome,
            effect=tool.effect,
            keyed=keyed,
            attempt=attempt,
            policy=tool.retry,
            now=parts.clock.monotonic(),
            deadline=self._deadline,
            budget=parts.budgets.of(tool.breaker.scope),
            breaker_permits=parts.guard.allows(tool.breaker.scope),
            replay_allowed_until=effort.replay_until(),
            min_left_s=tool.timeouts.connect_s + tool.timeouts.min_send_s,
            draw=parts.chance.draw(),
        )
        return again.delay_s if isinstance(again, RetryAfter) else None

    async def _answer_early(self, running: Running) -> Envelope:
        """The caller has waited `read`: look for proof while it is still held, then say *unknown* and listen on."""
        until, sent_at = self._held_until(), self.effort.sent_at
        short = sent_at is not None and self._deadline < sent_at + self.effort.tool.timeouts.read_s
        await running.admission.tell(Unknown(code=ErrorCode.TIMEOUT_UNKNOWN_OUTCOME), cut_short=short)
        if await self._ending.look_while_held(until, running):
            running.task.cancel()
            await asyncio.wait({running.task})
            await running.admission.end()
            return await self._ending.found()
        if running.task.done():
            return await self._conclude(await self.effort.ended(running))
        envelope = await self._ending.listening()
        running.admission.listen()
        self.listens = running
        return envelope

    async def _conclude(self, outcome: Outcome) -> Envelope:
        in_doubt = isinstance(outcome, Unknown) and self.effort.sent_at is not None
        if in_doubt and await self._ending.look_while_held(self._held_until(), None):
            return await self._ending.found()
        return await self._ending.concluded(outcome)

    def _held_until(self) -> float:
        return min(self._deadline, self._parts.clock.monotonic() + self.effort.tool.reconcile.inline_s)

    async def _claim_stands(self, outcome: Outcome | Withheld) -> bool:
        """A try has ended. Where it did not mark the claim, the claim is kept before anybody waits or is told of it."""
        if self.effort.kept or outcome.code == ErrorCode.STORE_UNAVAILABLE:
            return True
        try:
            return await self.effort.keep_claim()
        except StoreUnavailableError:
            # Whoever gives it up will find out.
            return True

    async def _overtaken(self) -> LookAgain:
        if self.effort.kept and self.effort.record.state is State.CLAIMED:
            await self._spool.keep(self._let_go)
        return LookAgain()

    async def _let_go(self) -> None:
        # It may be somebody else's already: that is what being overtaken means.
        with contextlib.suppress(FencedError, IllegalMoveError):
            await self.effort.give_up()
