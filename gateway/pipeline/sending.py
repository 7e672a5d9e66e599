"""One attempt: asked of the breaker, given a slot, sent, classified. What it means for the operation is said elsewhere."""

from dataclasses import dataclass
from typing import Protocol, assert_never

from gateway.contract.codes import FACTS, BreakerCount, ErrorCode
from gateway.contract.quick import quick
from gateway.manifest.policies import BreakerPolicy
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.stages.execute.attempt.classify import AnswerTerms, classify
from gateway.stages.execute.attempt.deadline import left_ms
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Gate, Limits
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from gateway.stages.execute.attempt.stored_request import dress
from gateway.stages.execute.breaker.breaker import Kind, NotPermitted, Refusal, State
from gateway.stages.execute.breaker.bulkhead import Entry
from gateway.stages.execute.breaker.evidence import IGNORED, weigh
from gateway.stages.execute.breaker.guard import Guard, Permit
from gateway.stages.execute.breaker.ports import Slot
from gateway.stages.execute.operation.evidence import Evidence
from gateway.stages.monitor.ports import AttemptFacts, AttemptKind, AttemptTrace


class Asked(Protocol):
    """Told what breaker and bulkhead said, as `CallTrace.asked` is."""

    def __call__(self, breaker: State, *, waited_s: float | None = None, admitted: bool = False) -> None: ...


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one send is to be made. `deadline` is the caller's, on Clock.monotonic."""

    deadline: float
    kind: AttemptKind
    delay_s: float | None = None
    told: Asked | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """We did not send, for a reason of our own that leaves no record and uses up no key."""

    code: ErrorCode
    retry_after_s: float | None = None
    limit: str | None = None
    reason: str | None = None
    refusal: NotPermitted | None = None


class Admission:
    """The breaker's permit and the bulkhead's slot of one attempt. Ended once, whatever became of it."""

    def __init__(
        self, guard: Guard, policy: BreakerPolicy, permit: Permit, slot: Slot, *, under: "Admission | None" = None
    ) -> None:
        self._guard = guard
        self._policy = policy
        self.permit = permit
        self._slot = slot
        self._under = under
        self._told = False

    def probes(self, scope: str) -> bool:
        """Whether this is the one probe of `scope`, and nobody else may go."""
        return self.permit.probe and self.permit.scope == scope and not self._told

    async def tell(self, outcome: Outcome | None, *, cut_short: bool = False) -> None:
        """Say what the attempt showed of the dependency; None when it showed nothing. The first word counts."""
        if self._told:
            return
        self._told = True
        if self._under is not None:
            # The probe goes on to its own attempt, whose end decides; here it can only fail.
            if not isinstance(outcome, Done):
                await self._under.tell(outcome, cut_short=cut_short)
            return
        evidence = IGNORED
        if outcome is not None:
            fact = FACTS[ErrorCode(outcome.code)].breaker if outcome.code else BreakerCount.SUCCESS
            evidence = weigh(outcome, fact, cut_short=cut_short)
        await self._guard.settle(self.permit, self._policy, evidence)

    def listen(self) -> None:
        """The caller is answered; others may have the slot."""
        self._slot.listen()

    async def end(self, outcome: Outcome | None = None, *, cut_short: bool = False) -> None:
        """Give slot and permit back."""
        self._slot.leave()
        await self.tell(outcome, cut_short=cut_short)


def kind_of(tool: Tool) -> Kind:
    """What the tool's call would risk as the probe of a sick dependency."""
    return Kind.PLAIN if tool.is_plain_write else Kind.SAFE


async def admit(
    parts: Parts,
    tool: Tool,
    *,
    kind: Kind,
    deadline: float,
    told: Asked | None = None,
    looks_s: float = 0.0,
    under: Admission | None = None,
) -> Admission | Withheld:
    """Ask breaker and throttle, then the bulkhead. Refused or admitted, nothing has been sent.

    Args:
        looks_s: how long it may look before its attempt begins.
        under: the admission of the write for which this looks. Where that is the probe, so is the look-up.
    """
    scope, longest_s = tool.breaker.scope, looks_s + tool.timeouts.total_s + tool.timeouts.grace_s
    probing = under if under is not None and under.probes(scope) else None
    permit: Permit | NotPermitted
    if probing is not None:
        permit = probing.permit
    else:
        permit = await parts.guard.permit(scope, tool.breaker, kind=kind, lease_s=longest_s)
    if isinstance(permit, NotPermitted):
        throttled = permit.reason is Refusal.THROTTLED
        # A throttle answers before the breaker is asked.
        if told is not None and not throttled:
            told(State.HALF_OPEN if permit.reason is Refusal.PROBING else State.OPEN)
        code = ErrorCode.RATE_LIMITED if throttled else ErrorCode.CIRCUIT_OPEN
        return Withheld(code=code, retry_after_s=permit.retry_after_s, refusal=permit)
    asked = parts.clock.monotonic()
    left_s = max(0.0, deadline - asked)
    try:
        slot = await parts.bulkheads.enter(
            tool.name,
            kind=kind,
            slots=tool.limits.concurrency,
            listening=tool.limits.listening,
            wait_s=min(tool.timeouts.pool_s, left_s),
        )
    except BaseException:
        # A probe that never left must not keep the breaker's one lease; whoever looks under one ends it himself.
        if probing is None:
            await parts.guard.settle(permit, tool.breaker, IGNORED)
        raise
    admitted = not isinstance(slot, Entry)
    if told is not None:
        breaker = State.HALF_OPEN if permit.probe else State.CLOSED
        told(breaker, waited_s=parts.clock.monotonic() - asked, admitted=admitted)
    if isinstance(slot, Entry):
        if probing is None:
            await parts.guard.settle(permit, tool.breaker, IGNORED)
        listening = slot is Entry.LISTENING_FULL
        if left_s < tool.timeouts.pool_s and slot is Entry.QUEUED:
            # Others may have more time than this caller had.
            return Withheld(code=ErrorCode.DEADLINE_BEFORE_SEND)
        limit = (
            f"{tool.limits.listening} writes whose answer is still awaited"
            if listening
            else f"{tool.limits.concurrency} calls at a time"
        )
        return Withheld(code=ErrorCode.GATEWAY_SATURATED, limit=limit)
    return Admission(parts.guard, tool.breaker, permit, slot, under=probing)


def attempt_facts(tool: Tool, *, number: int, kind: AttemptKind, delay_s: float | None = None) -> AttemptFacts:
    """What telemetry is told of an attempt before it is made."""
    url = tool.backend.request.url
    return AttemptFacts(
        number=number,
        kind=kind,
        method=tool.backend.method,
        server_address=url.host,
        server_port=url.port,
        url_template=url.path,
        timeout_s=tool.timeouts.read_s,
        retry_delay_s=delay_s,
    )


async def exchange(
    parts: Parts,
    tool: Tool,
    rendered: RenderedRequest,
    limits: Limits,
    trace: AttemptTrace,
    gate: Gate | None = None,
) -> Exchange:
    """Send once, with what belongs to this sending only. Whatever the end is, it is an Exchange."""
    extra: list[tuple[str, str]] = []
    if tool.backend.deadline_header is not None:
        left = left_ms(limits.send_deadline, now=parts.clock.monotonic())
        extra.append((tool.backend.deadline_header, str(left)))
    traceparent = trace.traceparent
    if traceparent is not None:
        extra.append(("traceparent", traceparent))
        if trace.tracestate is not None:
            extra.append(("tracestate", trace.tracestate))
    secrets, mcp = tool.backend.request.secret_headers, tool.backend.mcp
    request = dress(rendered, extra=tuple(extra), secrets=secrets, mcp=mcp)
    ended = await parts.transport.exchange(request, limits, gate)
    if ended.fault is Fault.INTERNAL and ended.cause is not None:
        parts.faults(f"an attempt of {tool.name}", ended.cause)
    return ended


def judge(parts: Parts, tool: Tool, ended: Exchange, *, sends: int = 1, after_unknown: bool = False) -> Outcome:
    """What an exchange proves, by the tables and the tool's own word."""
    return classify(ended, AnswerTerms.of(tool), wall=parts.store.wall(), sends=sends, after_unknown=after_unknown)


def evidence_of(outcome: Outcome) -> Evidence:
    """What an attempt's outcome is to the record machine."""
    match outcome:
        case NotSent():
            return Evidence.NOT_SENT
        case Refused():
            refused = Evidence.KEY_USED if outcome.key_used else Evidence.REFUSED
            return Evidence.REFUSED_RETRYABLE if outcome.retryable else refused
        case Done():
            return Evidence.DONE_KEPT if outcome.replayed else Evidence.DONE
        case Unknown():
            return Evidence.LOST
        case _:
            assert_never(outcome)
