"""Which outcomes tell something about a dependency's health."""

import pytest

from gateway.contract.codes import FACTS, BreakerCount, ErrorCode
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown
from gateway.stages.execute.breaker.evidence import IGNORED, THROTTLE_MAX_S, Evidence, weigh

FAILURE, SUCCESS, NOTHING = BreakerCount.FAILURE, BreakerCount.SUCCESS, BreakerCount.IGNORED


def of(outcome: Outcome) -> Evidence:
    """Weigh by the row of the outcome's own code."""
    return weigh(outcome, FACTS[ErrorCode(outcome.code)].breaker if outcome.code else SUCCESS)


@pytest.mark.parametrize(
    ("outcome", "count"),
    [
        (Done(status=200, answer=None), SUCCESS),
        (Done(status=200, answer=None, code="done_result_lost"), SUCCESS),
        (Refused(code="rejected", status=422), SUCCESS),
        (Refused(code="not_found", status=404), SUCCESS),
        (Refused(code="unavailable", status=503, retryable=True), FAILURE),
        (NotSent(code="connect_failed", retryable=True), FAILURE),
        (NotSent(code="gateway_saturated", retryable=True), NOTHING),
        (NotSent(code="tls_untrusted", retryable=False), NOTHING),
        (Unknown(code="timeout_unknown_outcome"), FAILURE),
        (Unknown(code="downstream_error_unknown_outcome", status=500), FAILURE),
    ],
)
def test_answers_are_health_and_silence_is_not(outcome: Outcome, count: BreakerCount) -> None:
    """Any refusal shows that the dependency lives; our own troubles show nothing."""
    evidence = of(outcome)

    assert (evidence.count, evidence.code, evidence.throttle_s) == (count, outcome.code, None)


@pytest.mark.parametrize(
    "outcome",
    [
        Refused(code="rate_limited", status=429, retryable=True, retry_after_s=7.0),
        Refused(code="unavailable", status=503, retryable=True, retry_after_s=7.0),
        Unknown(code="outcome_unknown", status=503, retry_after_s=7.0),
    ],
)
def test_a_dependency_that_names_a_time_is_left_alone_that_long(outcome: Outcome) -> None:
    """429 and 503 with Retry-After close the throttle, and count as nothing."""
    assert of(outcome) == Evidence(count=NOTHING, code=outcome.code, throttle_s=7.0)


def test_other_statuses_with_a_time_throttle_nobody() -> None:
    """A lock on one object says nothing about the others."""
    assert of(Refused(code="locked", status=423, retryable=True, retry_after_s=7.0)).throttle_s is None


def test_an_absurd_time_is_cut() -> None:
    """A dependency cannot shut itself off for years."""
    assert of(Refused(code="rate_limited", status=429, retry_after_s=1e12)).throttle_s == THROTTLE_MAX_S


def test_a_callers_short_deadline_is_not_the_dependencys_fault() -> None:
    """A wait that the caller cut short counts as nothing; an answer counts all the same."""
    assert weigh(Unknown(code="timeout_unknown_outcome"), FAILURE, cut_short=True) == IGNORED
    assert weigh(Done(status=200, answer=None), SUCCESS, cut_short=True).count is SUCCESS
