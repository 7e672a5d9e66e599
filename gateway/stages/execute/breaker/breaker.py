"""The circuit breaker: a table of transitions and the questions asked of it.

`permit` is asked before a call, `settle` after it. Both are pure: they take the breaker as it was and return it as
it should become, and return the same object when nothing changed, so that a healthy breaker writes nothing.

Each state has a generation. A call carries the generation in which it was admitted and its result counts only there:
a call that left before the breaker opened neither extends the outage nor closes the breaker when it comes back late.
A probe's lease is a generation of its own, so that a probe that was given up for lost is recognised in the same way.
All times are seconds on the store's clock (`ports.BreakerStore.now`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, assert_never

from gateway.contract.codes import BreakerCount
from gateway.contract.quick import quick
from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.open_time import open_for_s
from gateway.stages.execute.breaker.window import Window, record, totals, trips


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"
    """One probe is out and nobody else may go."""


class Event(StrEnum):
    TRIPPED = "tripped"
    PROBE_LEASED = "probe_leased"
    PROBE_SUCCEEDED = "probe_succeeded"
    PROBE_FAILED = "probe_failed"
    PROBE_RETURNED = "probe_returned"
    """The probe ended without saying anything about the dependency."""
    FORCED_OPEN = "forced_open"
    FORCED_CLOSED = "forced_closed"


# An event that is absent from a state's row cannot happen in that state.
TRANSITIONS: Final[Mapping[State, Mapping[Event, State]]] = {
    State.CLOSED: {
        Event.TRIPPED: State.OPEN,
        Event.FORCED_OPEN: State.OPEN,
        Event.FORCED_CLOSED: State.CLOSED,
    },
    State.OPEN: {
        Event.PROBE_LEASED: State.HALF_OPEN,
        Event.FORCED_OPEN: State.OPEN,
        Event.FORCED_CLOSED: State.CLOSED,
    },
    State.HALF_OPEN: {
        # The probe before was lost: its lease ran out without a word.
        Event.PROBE_LEASED: State.HALF_OPEN,
        Event.PROBE_SUCCEEDED: State.CLOSED,
        Event.PROBE_FAILED: State.OPEN,
        Event.PROBE_RETURNED: State.OPEN,
        Event.FORCED_OPEN: State.OPEN,
        Event.FORCED_CLOSED: State.CLOSED,
    },
}


class Kind(StrEnum):
    """What a call would risk as the probe."""

    SAFE = "safe"
    """A read, or a write that may be sent again: keyed or idempotent."""
    PLAIN = "plain"
    """A write whose loss would be an unknown. As a probe of a sick service it makes exactly that."""
    LOOKUP = "lookup"
    """A due reconciliation look-up. It may probe before the open time is over."""


class Refusal(StrEnum):
    OPEN = "open"
    PROBING = "probing"
    AWAITING_SAFE_PROBE = "awaiting_safe_probe"
    """A probe is due, and reads arrive often enough for one of them to be it."""
    FORCED_OPEN = "forced_open"
    THROTTLED = "throttled"
    """Not the breaker: the dependency itself said when to come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forced:
    """An operator's word, which stands above the machine until it lapses."""

    to: State
    reason: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """What replicas share about one dependency.

    Attributes:
        since: when the present outage began; None while closed.
        open_until: when a probe is due.
        probe_until: when the present probe's lease ends.
        rounds: how often in this outage the breaker opened.
        failures: of the last `of` calls before it opened, and the probes since.
        mark: who wrote this state; tells two equal states of two replicas apart.
    """

    state: State = State.CLOSED
    generation: int = 0
    since: float | None = None
    open_until: float = 0.0
    probe_until: float = 0.0
    rounds: int = 0
    failures: int = 0
    of: int = 0
    last_code: str | None = None
    forced: Forced | None = None
    mark: str = ""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    breaker: Breaker
    """As it should become: a lease was taken if it is another object. Its generation is the call's permit."""
    probe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPermitted:
    """A refusal that an observation can be written from: nothing was sent.

    Attributes:
        retry_after_s: always above 0.
        down_s: for how long the dependency has been down; None for a throttled one that is not.
        failures: failed calls among the last `of`.
        forced: the operator's reason, for Refusal.FORCED_OPEN.
    """

    retry_after_s: float
    reason: Refusal
    down_s: float | None
    failures: int = 0
    of: int = 0
    last_code: str | None = None
    forced: str | None = None


def permit(
    breaker: Breaker,
    policy: BreakerPolicy,
    *,
    kind: Kind,
    now: float,
    lease_s: float,
    safe_seen_at: float | None = None,
) -> Permitted | NotPermitted:
    """Decide whether a call may go out.

    Args:
        lease_s: how long this call may be out as the probe; no shorter than its attempt can last.
        safe_seen_at: when a call of `Kind.SAFE` last asked here.
    """
    if breaker.forced is not None and now < breaker.forced.until:
        if breaker.forced.to is State.CLOSED:
            return Permitted(breaker=breaker)
        return refuse(breaker, Refusal.FORCED_OPEN, until=breaker.forced.until, now=now)
    if breaker.state is State.CLOSED:
        return Permitted(breaker=breaker)
    if breaker.state is State.HALF_OPEN and now < breaker.probe_until:
        return refuse(breaker, Refusal.PROBING, until=breaker.probe_until, now=now)
    if now < breaker.open_until and kind is not Kind.LOOKUP:
        return refuse(breaker, Refusal.OPEN, until=breaker.open_until, now=now)
    if kind is Kind.PLAIN and safe_seen_at is not None and now < safe_seen_at + policy.open_s:
        return refuse(breaker, Refusal.AWAITING_SAFE_PROBE, until=safe_seen_at + policy.open_s, now=now)
    return Permitted(breaker=follow(breaker, Event.PROBE_LEASED, probe_until=now + lease_s), probe=True)


def settle(
    breaker: Breaker,
    window: Window,
    policy: BreakerPolicy,
    *,
    generation: int,
    count: BreakerCount,
    code: str | None,
    now: float,
    draw: float,
) -> tuple[Breaker, Window]:
    """Fold one finished call into the breaker and this process's window.

    Args:
        generation: of the permit with which the call went out.
        count: what the call says about the dependency.
        draw: a number in [0, 1) for the jitter of an open time.
    """
    if generation != breaker.generation:
        return breaker, window
    match breaker.state:
        case State.OPEN:
            # Nobody is admitted in a generation that is open.
            return breaker, window
        case State.HALF_OPEN:
            return _settle_probe(breaker, policy, count=count, code=code, now=now, draw=draw), window
        case State.CLOSED:
            return _settle_call(breaker, window, policy, count=count, code=code, now=now, draw=draw)
        case _:
            assert_never(breaker.state)


def is_forced(breaker: Breaker, *, now: float) -> bool:
    """Whether an operator's word is in force."""
    return breaker.forced is not None and now < breaker.forced.until


def refuse(breaker: Breaker, reason: Refusal, *, until: float, now: float) -> NotPermitted:
    """The refusal of a call that may come back at `until`."""
    return NotPermitted(
        retry_after_s=until - now,
        reason=reason,
        down_s=None if breaker.since is None else now - breaker.since,
        failures=breaker.failures,
        of=breaker.of,
        last_code=breaker.last_code,
        forced=breaker.forced.reason if breaker.forced is not None and reason is Refusal.FORCED_OPEN else None,
    )


def _settle_call(
    breaker: Breaker,
    window: Window,
    policy: BreakerPolicy,
    *,
    count: BreakerCount,
    code: str | None,
    now: float,
    draw: float,
) -> tuple[Breaker, Window]:
    if count is BreakerCount.IGNORED:
        return breaker, window
    failed = count is BreakerCount.FAILURE
    window = record(window, policy, failed=failed, now=now)
    # A success never opens, even if it is the call that makes the rate count.
    if not failed or is_forced(breaker, now=now) or not trips(window, policy, now=now):
        return breaker, window
    failures, calls = totals(window, policy, now=now)
    opened = follow(
        breaker,
        Event.TRIPPED,
        since=now,
        open_until=now + open_for_s(policy, rounds=1, draw=draw),
        rounds=1,
        # Failures in a row may reach further back than the window.
        failures=max(failures, window.consecutive),
        of=max(calls, window.consecutive),
        last_code=code,
        forced=None,
    )
    return opened, Window()


def _settle_probe(
    breaker: Breaker, policy: BreakerPolicy, *, count: BreakerCount, code: str | None, now: float, draw: float
) -> Breaker:
    match count:
        case BreakerCount.SUCCESS:
            return closed(breaker, Event.PROBE_SUCCEEDED)
        case BreakerCount.IGNORED:
            return follow(breaker, Event.PROBE_RETURNED)
        case BreakerCount.FAILURE:
            counted = replace(breaker, failures=breaker.failures + 1, of=breaker.of + 1, last_code=code)
            if now < breaker.open_until:
                # A look-up that went ahead of its time must not lengthen everybody's wait.
                return follow(counted, Event.PROBE_FAILED)
            rounds = breaker.rounds + 1
            until = now + open_for_s(policy, rounds=rounds, draw=draw)
            return follow(counted, Event.PROBE_FAILED, rounds=rounds, open_until=until)
        case _:
            assert_never(count)


def closed(breaker: Breaker, event: Event) -> Breaker:
    """A new generation with nothing held against the dependency."""
    return Breaker(state=TRANSITIONS[breaker.state][event], generation=breaker.generation + 1)


def follow(breaker: Breaker, event: Event, **changes: Any) -> Breaker:
    """A new generation, in the state that the table names.

    Raises:
        KeyError: when the event cannot happen in this state.
    """
    state = TRANSITIONS[breaker.state][event]
    return replace(breaker, state=state, generation=breaker.generation + 1, **changes)
