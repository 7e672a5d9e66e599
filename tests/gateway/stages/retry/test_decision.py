"""Again, or not: each class of tool against each outcome, and the room that is left."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.manifest.policies import Effect, RetryPolicy
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from gateway.stages.retry.budget import Budget
from gateway.stages.retry.decision import RetryAfter, Stop, StopReason, decide, objection

POLICY = RetryPolicy(max_attempts=4, base_s=1.0, cap_s=30.0, budget=0.2)
READ, KEYED, IDEMPOTENT, PLAIN = (
    (Effect.READ, False),
    (Effect.WRITE, True),
    (Effect.IDEMPOTENT, False),
    (Effect.WRITE, False),
)
ALL = [READ, KEYED, IDEMPOTENT, PLAIN]

REFUSED_CONNECTION = NotSent(code="connect_failed", retryable=True)
UNTRUSTED = NotSent(code="tls_untrusted", retryable=False)
TOO_MANY = Refused(code="rate_limited", status=429, retryable=True)
REJECTED = Refused(code="rejected", status=422)
TIMEOUT = Unknown(code="timeout_unknown_outcome")
DONE = Done(status=200, answer=None)
LOST = Done(status=200, answer=None, code="done_result_lost")


def ask(outcome: Outcome, what: tuple[Effect, bool], **more: Any) -> RetryAfter | Stop:
    """Decide after the first attempt, 100 s before the deadline, with everything in favour."""
    effect, keyed = what
    may_replay = what in (KEYED, IDEMPOTENT) and isinstance(outcome, Unknown)
    situation: dict[str, Any] = {
        "attempt": 1,
        "policy": POLICY,
        "now": 1_000.0,
        "deadline": 1_100.0,
        "budget": Budget(),
        "breaker_permits": True,
        "replay_allowed_until": 1_060.0 if may_replay else None,
        "min_left_s": 0.25,
        "draw": 0.5,
    }
    return decide(outcome, effect=effect, keyed=keyed, **(situation | more))


@pytest.mark.parametrize(
    ("outcome", "again"),
    [
        (REFUSED_CONNECTION, ALL),
        (TOO_MANY, ALL),
        (TIMEOUT, [READ, KEYED, IDEMPOTENT]),
        (UNTRUSTED, []),
        (REJECTED, []),
        (DONE, []),
        (LOST, [READ]),
    ],
)
def test_who_tries_again_after_what(outcome: Outcome, again: list[tuple[Effect, bool]]) -> None:
    """The table of the module, cell by cell: a plain write in doubt is never sent again, a done call never repeated."""
    assert [what for what in ALL if isinstance(ask(outcome, what), RetryAfter)] == again


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (TIMEOUT, StopReason.NOT_SAFE),
        (UNTRUSTED, StopReason.NOT_TRANSIENT),
        (REJECTED, StopReason.NOT_TRANSIENT),
        (DONE, StopReason.DONE),
        (LOST, StopReason.DONE),
    ],
)
def test_a_stop_says_why(outcome: Outcome, reason: StopReason) -> None:
    """The reason of a plain write's stop."""
    assert ask(outcome, PLAIN) == Stop(reason=reason)


@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        ({"attempt": 4}, StopReason.ATTEMPTS_SPENT),
        ({"policy": replace(POLICY, max_attempts=1)}, StopReason.ATTEMPTS_SPENT),
        ({"breaker_permits": False}, StopReason.BREAKER_OPEN),
        ({"budget": Budget(tokens=0.9)}, StopReason.BUDGET_SPENT),
        ({"policy": replace(POLICY, budget=0.0)}, StopReason.BUDGET_SPENT),
    ],
)
def test_what_is_spent_stops(situation: dict[str, Any], reason: StopReason) -> None:
    """Attempts, the breaker and the budget end retries of what could well be retried."""
    assert ask(REFUSED_CONNECTION, READ, **situation) == Stop(reason=reason)


@pytest.mark.parametrize("outcome", [REFUSED_CONNECTION, UNTRUSTED, TOO_MANY, REJECTED, TIMEOUT, DONE, LOST])
@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize("attempt", [1, 4])
def test_what_no_moment_changes_is_known_without_one(outcome: Outcome, what: tuple[Effect, bool], attempt: int) -> None:
    """Where everything else is in favour, there is a retry exactly where there is no objection, and it is the reason."""
    effect, keyed = what
    objects = objection(outcome, effect=effect, keyed=keyed, attempt=attempt, policy=POLICY)
    decided = ask(outcome, what, attempt=attempt)

    assert (decided.reason if isinstance(decided, Stop) else None) is objects


@pytest.mark.parametrize(
    ("attempt", "policy", "delay_s"),
    [
        (1, POLICY, 0.5),
        (2, POLICY, 1.0),
        (3, POLICY, 2.0),
        (3, replace(POLICY, base_s=4.0), 8.0),
        (3, replace(POLICY, cap_s=3.0), 1.5),
    ],
)
def test_the_wait_is_the_policys(attempt: int, policy: RetryPolicy, delay_s: float) -> None:
    """Base and cap are both kept."""
    assert ask(REFUSED_CONNECTION, READ, attempt=attempt, policy=policy) == RetryAfter(delay_s=delay_s)


def test_no_wait_ends_past_the_deadline() -> None:
    """A wait that leaves too little for an attempt is not begun; the caller is told how long it would have been."""
    assert ask(REFUSED_CONNECTION, READ, deadline=1_000.75) == RetryAfter(delay_s=0.5)
    assert ask(REFUSED_CONNECTION, READ, deadline=1_000.74) == Stop(reason=StopReason.DEADLINE, retry_after_s=0.5)
    assert ask(REFUSED_CONNECTION, READ, deadline=1_000.75, min_left_s=0.26) == Stop(
        reason=StopReason.DEADLINE, retry_after_s=0.5
    )


def test_an_unknown_outcome_promises_no_time() -> None:
    """A caller in doubt must verify, not come back after our own backoff."""
    assert ask(TIMEOUT, KEYED, deadline=1_000.0) == Stop(reason=StopReason.DEADLINE)


def test_retry_after_is_honoured() -> None:
    """The dependency's time replaces a shorter backoff, with a little jitter on top."""
    assert ask(replace(TOO_MANY, retry_after_s=10.0), PLAIN) == RetryAfter(delay_s=10.5)
    assert ask(replace(TIMEOUT, retry_after_s=10.0), KEYED) == RetryAfter(delay_s=10.5)


def test_a_longer_backoff_stands_above_a_short_retry_after() -> None:
    """`Retry-After: 0` is no licence to hammer."""
    assert ask(replace(TOO_MANY, retry_after_s=0.0), PLAIN) == RetryAfter(delay_s=0.5)


@pytest.mark.parametrize("seconds", [200.0, 9_999_999_999.0, float("inf")])
def test_a_retry_after_that_does_not_fit_is_returned_now(seconds: float) -> None:
    """Nobody sleeps for it; the caller is told."""
    assert ask(replace(TOO_MANY, retry_after_s=seconds), PLAIN) == Stop(
        reason=StopReason.DEADLINE, retry_after_s=seconds
    )


def test_jitter_does_not_cost_the_last_attempt() -> None:
    """When only the asked time itself fits, it is waited for exactly."""
    decision = ask(replace(TOO_MANY, retry_after_s=99.0), PLAIN, draw=0.9)

    assert decision == RetryAfter(delay_s=99.75)


@pytest.mark.parametrize("seconds", [3.0, None])
def test_a_stop_passes_the_asked_time_on(seconds: float | None) -> None:
    """Whatever ended the retries, the caller learns what the dependency asked for."""
    stop = ask(replace(TOO_MANY, retry_after_s=seconds), PLAIN, attempt=4)

    assert stop == Stop(reason=StopReason.ATTEMPTS_SPENT, retry_after_s=seconds)


@pytest.mark.parametrize("what", [KEYED, IDEMPOTENT])
@pytest.mark.parametrize("until", [None, 999.0, 1_000.4])
def test_a_replay_keeps_inside_its_window(what: tuple[Effect, bool], until: float | None) -> None:
    """After the window, or when the replay gate is shut, the same bytes could act again."""
    assert ask(TIMEOUT, what, replay_allowed_until=until) == Stop(reason=StopReason.REPLAY_WINDOW)


@pytest.mark.parametrize("outcome", [REFUSED_CONNECTION, TOO_MANY])
def test_an_attempt_after_an_open_one_is_a_replay_too(outcome: Outcome) -> None:
    """This attempt was harmless, but an earlier one may have acted: the window still binds."""
    assert ask(outcome, KEYED, attempt=2, replay_allowed_until=1_000.4) == Stop(reason=StopReason.REPLAY_WINDOW)
    assert isinstance(ask(outcome, KEYED, attempt=2, replay_allowed_until=1_060.0), RetryAfter)


def test_a_read_knows_no_replay_window() -> None:
    """Reading again changes nothing."""
    assert isinstance(ask(TIMEOUT, READ, replay_allowed_until=0.0), RetryAfter)


OUTCOMES = st.one_of(
    st.builds(NotSent, code=st.just("connect_failed"), retryable=st.booleans()),
    st.builds(
        Refused,
        code=st.just("rate_limited"),
        status=st.just(429),
        retryable=st.booleans(),
        retry_after_s=st.one_of(st.none(), st.floats(0.0, 1e12)),
    ),
    st.builds(Unknown, code=st.just("outcome_unknown"), retry_after_s=st.one_of(st.none(), st.floats(0.0, 1e12))),
    st.just(DONE),
)


@given(
    outcome=OUTCOMES,
    what=st.sampled_from(ALL),
    attempt=st.integers(1, 6),
    left_s=st.floats(-10.0, 100.0),
    tokens=st.floats(0.0, 10.0),
    breaker_permits=st.booleans(),
    until=st.one_of(st.none(), st.floats(900.0, 1_200.0)),
    min_left_s=st.floats(0.0, 5.0),
    draw=st.floats(0.0, 1.0, exclude_max=True),
)
def test_a_retry_is_safe_and_fits(
    *,
    outcome: Outcome,
    what: tuple[Effect, bool],
    attempt: int,
    left_s: float,
    tokens: float,
    breaker_permits: bool,
    until: float | None,
    min_left_s: float,
    draw: float,
) -> None:
    """Whatever comes together, a retry is never unsafe, never early, never late and never unpaid."""
    decision = ask(
        outcome,
        what,
        attempt=attempt,
        deadline=1_000.0 + left_s,
        budget=Budget(tokens=tokens),
        breaker_permits=breaker_permits,
        replay_allowed_until=until,
        min_left_s=min_left_s,
        draw=draw,
    )
    if isinstance(decision, Stop):
        return
    assert not isinstance(outcome, Done)
    assert breaker_permits
    assert tokens >= 1.0
    assert attempt < POLICY.max_attempts
    assert 0.0 <= decision.delay_s <= left_s - min_left_s + 1e-9
    if isinstance(outcome, Refused | Unknown) and outcome.retry_after_s is not None:
        assert decision.delay_s >= outcome.retry_after_s
    if isinstance(outcome, Unknown) and what != READ:
        assert what != PLAIN
        assert until is not None
        assert 1_000.0 + decision.delay_s <= until
