"""The rate limit's token bucket."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.rate import TokenBucket, is_full, take

TWO_A_SECOND = Rate(count=2, per_s=1.0)


def test_the_first_calls_go_and_the_next_is_told_when() -> None:
    """Two at once, then half a second for the next."""
    first, waits_first = take(None, TWO_A_SECOND, now=10.0)
    second, waits_second = take(first, TWO_A_SECOND, now=10.0)
    third, waits_third = take(second, TWO_A_SECOND, now=10.0)

    assert (waits_first, waits_second, waits_third) == (None, None, 0.5)
    assert take(third, TWO_A_SECOND, now=10.5)[1] is None


@pytest.mark.parametrize(("rate", "wait_s"), [(Rate(count=1, per_s=1.0), 1.0), (Rate(count=1, per_s=60.0), 60.0)])
def test_the_rate_is_the_policys(rate: Rate, wait_s: float) -> None:
    """Count and period are both kept."""
    bucket, _ = take(None, rate, now=0.0)

    assert take(bucket, rate, now=0.0)[1] == pytest.approx(wait_s)


def test_an_idle_caller_saves_no_more_than_a_period() -> None:
    """A day of silence buys one full bucket."""
    bucket, _ = take(None, TWO_A_SECOND, now=0.0)
    waits = []
    for _ in range(3):
        bucket, wait_s = take(bucket, TWO_A_SECOND, now=86_400.0)
        waits.append(wait_s)

    assert waits == [None, None, 0.5]


def test_a_full_bucket_can_be_forgotten() -> None:
    """Full again after the time its calls cost."""
    bucket = TokenBucket(0.0, 10.0)

    assert (is_full(bucket, TWO_A_SECOND, now=10.9), is_full(bucket, TWO_A_SECOND, now=11.0)) == (False, True)


@given(st.lists(st.floats(0.0, 2.0), max_size=100))
def test_no_second_passes_more_than_its_share(pauses: list[float]) -> None:
    """In any stretch of time no more calls pass than a full bucket and what flowed in since."""
    now, bucket, passed = 0.0, None, list[float]()
    for pause in pauses:
        now += pause
        bucket, wait_s = take(bucket, TWO_A_SECOND, now=now)
        if wait_s is None:
            passed.append(now)

    for first, began in enumerate(passed):
        for last in range(first, len(passed)):
            assert last - first + 1 <= 2 + 2 * (passed[last] - began) + 1e-6
