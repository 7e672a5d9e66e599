"""A read: no record, no key. Tried again while that can help, and given up when its caller goes."""

from dataclasses import dataclass

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.quick import quick
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.pipeline.sending import Admission, Asked, Withheld, admit, attempt_facts, exchange, judge
from gateway.pipeline.telling import Telling
from gateway.stages.execute.attempt.deadline import attempt_limits
from gateway.stages.execute.attempt.exchange import Limits
from gateway.stages.execute.attempt.freshness import anew
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Unknown
from gateway.stages.execute.breaker.breaker import Kind
from gateway.stages.monitor.ports import AttemptKind, CallTrace, ReconcileTrace
from gateway.stages.retry.decision import RetryAfter, decide


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a read ended: with an outcome, or withheld by ourselves. `attempts` counts what was tried."""

    outcome: Outcome | Withheld
    attempts: int
    waited_s: float = 0.0


async def run_read(
    parts: Parts, tool: Tool, rendered: RenderedRequest, trace: CallTrace, *, deadline: float
) -> Reading:
    """Attempts until one ends it (stages 2 and 3). Cancelling closes the connection and gives everything back."""
    scope, number, delay_s = tool.breaker.scope, 1, None
    parts.budgets.earn(scope, tool.retry.budget)
    while True:
        started = parts.clock.monotonic()
        attempt = _Try(deadline=deadline, number=number, delay_s=delay_s, told=trace.asked)
        outcome = await _attempt(parts, tool, rendered, trace, attempt)
        now = parts.clock.monotonic()
        if isinstance(outcome, Withheld):
            return Reading(outcome=outcome, attempts=number - 1)
        if isinstance(outcome, Done):
            return Reading(outcome=outcome, attempts=number, waited_s=now - started)
        again = decide(
            outcome,
            effect=tool.effect,
            keyed=False,
            attempt=number,
            policy=tool.retry,
            now=now,
            deadline=deadline,
            budget=parts.budgets.of(scope),
            breaker_permits=parts.guard.allows(scope),
            replay_allowed_until=None,
            min_left_s=tool.timeouts.min_send_s,
            draw=parts.chance.draw(),
        )
        if not isinstance(again, RetryAfter):
            return Reading(outcome=outcome, attempts=number, waited_s=now - started)
        parts.budgets.spend(scope)
        delay_s = again.delay_s
        await parts.clock.sleep(again.delay_s)
        number += 1


def read_envelope(telling: Telling, reading: Reading) -> Envelope:
    """How a read ended, as its caller is told."""
    if isinstance(reading.outcome, Withheld):
        return telling.withhold(reading.outcome)
    return telling.outcome(reading.outcome, None, attempts=reading.attempts, waited_s=reading.waited_s)


async def run_lookup(
    parts: Parts,
    tool: Tool,
    rendered: RenderedRequest,
    trace: ReconcileTrace | CallTrace,
    *,
    deadline: float,
    under: Admission | None = None,
) -> Outcome | Withheld:
    """One attempt of a reconciliation's read: nobody's permissions and limits, a slot and a connection of its own, and
    no answer that a cache has kept.

    Args:
        under: the admission of the write that waits for it.
    """
    attempt = _Try(deadline=deadline, kind=Kind.LOOKUP, under=under)
    return await _attempt(parts, tool, anew(rendered), trace, attempt)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class _Try:
    deadline: float
    number: int = 1
    delay_s: float | None = None
    kind: Kind = Kind.SAFE
    told: Asked | None = None
    under: Admission | None = None


async def _attempt(
    parts: Parts, tool: Tool, rendered: RenderedRequest, trace: CallTrace | ReconcileTrace, attempt: _Try
) -> Outcome | Withheld:
    lookup = attempt.kind is Kind.LOOKUP
    admission = await admit(
        parts, tool, kind=attempt.kind, deadline=attempt.deadline, told=attempt.told, under=attempt.under
    )
    if isinstance(admission, Withheld):
        return admission
    cut_short = attempt.deadline < parts.clock.monotonic() + tool.timeouts.read_s
    try:
        limits = attempt_limits(
            tool.timeouts,
            effect=tool.effect,
            now=parts.clock.monotonic(),
            deadline=attempt.deadline,
            result_bytes=tool.limits.result_bytes,
            fresh_connection=tool.backend.fresh_connection,
            reserved=lookup,
        )
        late = isinstance(limits, NotSent)
        outcome = limits if isinstance(limits, NotSent) else await _sent(parts, tool, rendered, limits, trace, attempt)
    except BaseException:
        await admission.end()
        raise
    timed_out = isinstance(outcome, Unknown) and outcome.code == ErrorCode.DOWNSTREAM_TIMEOUT
    await admission.end(None if late else outcome, cut_short=cut_short and timed_out)
    return outcome


async def _sent(
    parts: Parts,
    tool: Tool,
    rendered: RenderedRequest,
    limits: Limits,
    trace: CallTrace | ReconcileTrace,
    attempt: _Try,
) -> Outcome:
    lookup, again = attempt.kind is Kind.LOOKUP, attempt.number > 1
    kind = AttemptKind.LOOKUP if lookup else AttemptKind.RETRY if again else AttemptKind.FIRST
    seen = trace.attempt(attempt_facts(tool, number=attempt.number, kind=kind, delay_s=attempt.delay_s))
    ended = await exchange(parts, tool, rendered, limits, seen)
    outcome = judge(parts, tool, ended, sends=attempt.number)
    seen.ended(ended, outcome)
    return outcome
