"""Again? Pure functions, and the only retry layer there is: `objection` is what `decide` says whatever the moment.

Three questions in this order: would another attempt be safe, could it help, is there room for it. What makes a repeat
safe differs by class:

| class | another attempt may follow |
|---|---|
| read | anything transient, and an answer whose body was lost |
| keyed or idempotent write | proofs of non-execution, and an unknown outcome while the replay gate allows it |
| plain write | proofs of non-execution only: a write in doubt is never sent again |

A second call by the caller is no retry; it passes the whole order again.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import Effect, RetryPolicy
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from gateway.stages.retry.backoff import asked_s, full_jitter_s
from gateway.stages.retry.budget import Budget, affords

_LOST: Final = frozenset({ErrorCode.DONE_RESULT_LOST.value, ErrorCode.RESULT_UNREADABLE.value})


class StopReason(StrEnum):
    DONE = "done"
    NOT_SAFE = "not_safe"
    """The outcome is unknown and another attempt could act a second time."""
    NOT_TRANSIENT = "not_transient"
    """The same attempt would end in the same way."""
    ATTEMPTS_SPENT = "attempts_spent"
    BREAKER_OPEN = "breaker_open"
    BUDGET_SPENT = "budget_spent"
    DEADLINE = "deadline"
    """The wait and an attempt do not fit into what is left."""
    REPLAY_WINDOW = "replay_window"
    """After the wait, a replay with the same key could be a new operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAfter:
    delay_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    reason: StopReason
    retry_after_s: float | None = None
    """What the dependency asked for, or for want of room the wait that did not fit; None where there is neither."""


def objection(outcome: Outcome, *, effect: Effect, keyed: bool, attempt: int, policy: RetryPolicy) -> StopReason | None:
    """Why attempt number `attempt` (the first is 1) is followed by no other, however much room there is. See `decide`."""
    if isinstance(outcome, Done) and not _lost_reading(outcome, effect):
        return StopReason.DONE
    if not _safe(outcome, effect=effect, keyed=keyed):
        return StopReason.NOT_SAFE
    if not _transient(outcome):
        return StopReason.NOT_TRANSIENT
    return StopReason.ATTEMPTS_SPENT if attempt >= policy.max_attempts else None


def decide(  # noqa: PLR0913 - everything the decision depends on, and nothing hidden
    outcome: Outcome,
    *,
    effect: Effect,
    keyed: bool,
    attempt: int,
    policy: RetryPolicy,
    now: float,
    deadline: float,
    budget: Budget,
    breaker_permits: bool,
    replay_allowed_until: float | None,
    min_left_s: float,
    draw: float,
) -> RetryAfter | Stop:
    """Decide whether attempt number `attempt` (the first is 1) is followed by another.

    Args:
        outcome: of that attempt alone.
        keyed: the downstream honours a key.
        now: on the clock of `deadline` and `replay_allowed_until`, in seconds.
        deadline: of the call; no wait ends after it.
        breaker_permits: the dependency's breaker is closed (`Guard.allows`). A throttle is waited out here, not refused.
        replay_allowed_until: until when the stored bytes may be sent again although an attempt's outcome is open; for
            an idempotent write the deadline of the call that began it. None: not at all, or nothing is open.
        min_left_s: what must be left after the wait for an attempt to be worth starting.
        draw: a number in [0, 1) for the jitter.
    """
    room_s = deadline - min_left_s - now
    asked = None if isinstance(outcome, NotSent | Done) else outcome.retry_after_s
    delay_s = full_jitter_s(base_s=policy.base_s, cap_s=policy.cap_s, retries=attempt - 1, draw=draw)
    if asked is not None:
        # Jitter must not cost the attempt that the asked time alone leaves room for.
        delay_s = min(max(delay_s, asked_s(asked, draw=draw)), max(asked, room_s))
    may_replay = replay_allowed_until is not None and now + delay_s <= replay_allowed_until
    # An earlier attempt may be open although this one is proved harmless; then the next is a replay all the same.
    replays = isinstance(outcome, Unknown) or replay_allowed_until is not None
    of_the_moment = (
        (not breaker_permits, StopReason.BREAKER_OPEN),
        (not affords(budget, policy.budget), StopReason.BUDGET_SPENT),
        (delay_s > room_s, StopReason.DEADLINE),
        (effect is not Effect.READ and replays and not may_replay, StopReason.REPLAY_WINDOW),
    )
    reason = objection(outcome, effect=effect, keyed=keyed, attempt=attempt, policy=policy)
    if reason is None:
        reason = next((reason for objects, reason in of_the_moment if objects), None)
    if reason is None:
        return RetryAfter(delay_s=delay_s)
    if asked is None and reason is StopReason.DEADLINE and not isinstance(outcome, Unknown):
        return Stop(reason=reason, retry_after_s=delay_s)
    return Stop(reason=reason, retry_after_s=asked)


def _safe(outcome: Outcome, *, effect: Effect, keyed: bool) -> bool:
    if not isinstance(outcome, Unknown):
        return True
    match effect:
        case Effect.READ | Effect.IDEMPOTENT:
            return True
        case Effect.WRITE:
            return keyed
        case _:
            assert_never(effect)


def _lost_reading(outcome: Outcome, effect: Effect) -> bool:
    """A read whose answer came and whose body did not arrive whole. Of a write it is the effect that counts."""
    return effect is Effect.READ and isinstance(outcome, Done) and outcome.code in _LOST


def _transient(outcome: Outcome) -> bool:
    match outcome:
        case NotSent() | Refused():
            return outcome.retryable
        case Unknown():
            return True
        case Done():
            # Only a reading comes here: it was answered, and can simply be asked again.
            return True
        case _:
            assert_never(outcome)
