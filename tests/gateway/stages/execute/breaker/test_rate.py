"""Token buckets, one and several at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker import rate as module
from gateway.stages.execute.breaker.rate import Buckets, Quota, Taken, TokenBucket, is_full, take

TWO_A_SECOND = Rate(count=2, per_s=1.0)
TEN_A_MINUTE = Rate(count=10, per_s=60.0)


def one(bucket: TokenBucket | None, rate: Rate, *, now: float) -> tuple[TokenBucket, float | None]:
    """Take from a single bucket; the wait, or None."""
    (after,), taken = take([bucket], [rate], now=now)
    return after, None if taken.refused is None else taken.wait_s


def quota(key: str, rate: Rate, partition: str = "acme") -> Quota:
    """A bucket by its key."""
    return Quota(name="n", partition=partition, key=key, rate=rate)


def test_the_first_calls_go_and_the_next_is_told_when() -> None:
    """Two at once, then half a second for the next."""
    first, waits_first = one(None, TWO_A_SECOND, now=10.0)
    second, waits_second = one(first, TWO_A_SECOND, now=10.0)
    third, waits_third = one(second, TWO_A_SECOND, now=10.0)

    assert (waits_first, waits_second, waits_third) == (None, None, 0.5)
    assert one(third, TWO_A_SECOND, now=10.5)[1] is None


def test_an_earlier_look_gives_no_time_twice() -> None:
    """Who read the clock before another took: the bucket is not refilled again from then on."""
    first, _ = one(None, TWO_A_SECOND, now=10.0)
    second, _ = one(first, TWO_A_SECOND, now=9.0)

    assert second == TokenBucket(0.0, 10.0)
    assert one(second, TWO_A_SECOND, now=10.0)[1] == 0.5


@pytest.mark.parametrize(("rate", "wait_s"), [(Rate(count=1, per_s=1.0), 1.0), (Rate(count=1, per_s=60.0), 60.0)])
def test_the_rate_is_the_policys(rate: Rate, wait_s: float) -> None:
    """Count and period are both kept."""
    bucket, _ = one(None, rate, now=0.0)

    assert one(bucket, rate, now=0.0)[1] == pytest.approx(wait_s)


def test_an_idle_caller_saves_no_more_than_a_period() -> None:
    """A day of silence buys one full bucket."""
    bucket, _ = one(None, TWO_A_SECOND, now=0.0)
    waits = []
    for _ in range(3):
        bucket, wait_s = one(bucket, TWO_A_SECOND, now=86_400.0)
        waits.append(wait_s)

    assert waits == [None, None, 0.5]


def test_a_clock_that_stands_before_the_bucket_gives_nothing() -> None:
    """Nor does it take anything."""
    assert take([TokenBucket(0.5, 10.0)], [TWO_A_SECOND], now=9.0)[1].tokens == (0.5,)


def test_one_empty_bucket_refuses_for_all() -> None:
    """Nothing is taken from any, and the wait is for the one that takes longest."""
    buckets = [TokenBucket(0.0, 0.0), TokenBucket(5.0, 0.0), TokenBucket(0.5, 0.0)]
    after, taken = take(buckets, [TWO_A_SECOND, TEN_A_MINUTE, TEN_A_MINUTE], now=0.0)

    assert taken == Taken(tokens=(0.0, 5.0, 0.5), refused=2, wait_s=3.0)
    assert [bucket.tokens for bucket in after] == [0.0, 5.0, 0.5]
    assert take(after, [TWO_A_SECOND, TEN_A_MINUTE, TEN_A_MINUTE], now=3.0)[1].refused is None


def test_several_are_taken_where_there_are_so_many() -> None:
    """Else one; each bucket by itself, and nothing of any where one is empty."""
    buckets = [TokenBucket(5.0, 0.0), TokenBucket(5.0, 0.0), None]
    rates = [TEN_A_MINUTE, TEN_A_MINUTE, TWO_A_SECOND]
    after, taken = take(buckets, rates, [5, 6, 1], now=0.0)

    assert taken == Taken(tokens=(0.0, 4.0, 1.0), counts=(5, 1, 1))
    assert [it.tokens for it in after] == [0.0, 4.0, 1.0]
    assert take(after, rates, [1, 4, 1], now=0.0)[1] == Taken(tokens=(0.0, 4.0, 1.0), refused=0, wait_s=6.0)
    assert Buckets().take([quota("a", TEN_A_MINUTE)], [4], now=0.0) == Taken(tokens=(6.0,), counts=(4,))


def test_a_full_bucket_can_be_forgotten() -> None:
    """Full again after the time its calls cost."""
    bucket = TokenBucket(0.0, 10.0)

    assert (is_full(bucket, TWO_A_SECOND, now=10.9), is_full(bucket, TWO_A_SECOND, now=11.0)) == (False, True)


def test_buckets_are_kept_by_partition_and_key() -> None:
    """One caller's haste does not slow another, and time pays."""
    buckets, once = Buckets(), Rate(count=1, per_s=10.0)
    names = [("acme", "a"), ("acme", "b"), ("globex", "a"), ("acme", "a")]
    taken = [buckets.take([quota(key, once, whose)], now=0.0).refused for whose, key in names]

    assert taken == [None, None, None, 0]
    assert buckets.take([quota("a", once)], now=10.0).refused is None


def test_idle_callers_are_forgotten() -> None:
    """A bucket that is full again is not kept for ever; one in use is."""
    buckets, second, hour = Buckets(), Rate(count=1, per_s=1.0), Rate(count=1, per_s=3_600.0)
    buckets.take([quota("busy", hour)], now=0.0)
    for number in range(module._SWEEP_EVERY - 2):
        buckets.take([quota(f"idle-{number}", second)], now=0.0)
    buckets.take([quota("one more", second)], now=1.0)

    assert len(buckets) == 2
    assert buckets.take([quota("busy", hour)], now=1.0).refused == 0


@given(st.lists(st.floats(0.0, 2.0), max_size=100))
def test_no_second_passes_more_than_its_share(pauses: list[float]) -> None:
    """In any stretch of time no more calls pass than a full bucket and what flowed in since."""
    now, bucket, passed = 0.0, None, list[float]()
    for pause in pauses:
        now += pause
        bucket, wait_s = one(bucket, TWO_A_SECOND, now=now)
        if wait_s is None:
            passed.append(now)

    for first, began in enumerate(passed):
        for last in range(first, len(passed)):
            assert last - first + 1 <= 2 + 2 * (passed[last] - began) + 1e-6
