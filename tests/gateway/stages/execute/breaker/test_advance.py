"""How many tokens a process takes in advance, and how long they are worth something."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker import advance as module
from gateway.stages.execute.breaker.advance import KEPT_S, PART, Slice, Slices, amount, at_most
from gateway.stages.execute.breaker.rate import Buckets, Quota

HUNDRED = Rate(count=100, per_s=1.0)
THOUSAND = Rate(count=1000, per_s=1.0)


def quota(rate: Rate, key: str = "k") -> Quota:
    """One bucket."""
    return Quota(name="n", partition="acme", key=key, rate=rate)


@pytest.mark.parametrize(
    ("count", "per_s", "most"),
    [
        (5, 60.0, 1),
        (5000, 86_400.0, 1),
        (39, 1.0, 1),
        (40, 1.0, 2),
        (50, 1.0, 2),
        (100, 1.0, 5),
        (2400, 60.0, 2),
        (1_000_000, 1.0, 50_000),
    ],
)
def test_what_a_process_may_take_at_once(count: int, per_s: float, most: int) -> None:
    """What the rate gives in 50 ms; nothing in advance of a rate that gives less than two."""
    assert KEPT_S == 0.05
    assert at_most(Rate(count=count, per_s=per_s)) == most


@pytest.mark.parametrize(
    ("left", "ago_s", "taken", "spent", "asked"),
    [
        # Never asked, or not lately: one.
        (0.0, float("inf"), 0, 0, 1),
        (1000.0, 0.1, 40, 40, 1),
        (500.0, 0.01, 0, 0, 1),
        # Spent within the time: twice as many. Spent too late: as many. Not spent: as many as were.
        (500.0, 0.01, 4, 4, 8),
        (500.0, 0.06, 4, 4, 4),
        (500.0, 0.06, 9, 3, 3),
        # Never more than the rate gives in the time, nor more than a twentieth of what is there.
        (940.0, 0.01, 40, 40, 47),
        (960.0, 0.0, 40, 40, 48),
        (100.0, 0.0, 40, 40, 5),
        (10.0, 0.0, 40, 40, 1),
        # What would overflow costs nobody anything.
        (1000.0, 0.0, 1, 0, 50),
        (980.0, 0.0, 1, 0, 30),
        (940.0, 0.0, 1, 0, 1),
    ],
)
def test_how_many_are_asked_for(left: float, ago_s: float, taken: int, spent: int, asked: int) -> None:
    """By what was spent lately, by what would overflow, and by what is there."""
    assert PART == 20
    assert amount(THOUSAND, left=left, ago_s=ago_s, taken=taken, spent=spent) == asked


@pytest.mark.parametrize(
    ("left", "age_s", "still"),
    [
        (50.0, 0.0, 5),
        (50.0, 0.049, 5),
        (50.0, 0.05, 0),
        (50.0, -0.001, 0),
        # The bucket fills up: what would be too much with it is worthless.
        (95.0, 0.0, 5),
        (95.0, 0.009, 4),
        (95.0, 0.011, 3),
        (95.0, 0.041, 0),
        (97.0, 0.0, 3),
    ],
)
def test_how_many_are_still_worth_something(left: float, age_s: float, still: int) -> None:
    """All for 50 ms, unless the bucket overflows with them; none on a clock that stepped back."""
    held = Slice(HUNDRED)
    held.fill(6, left, asked_at=0.0)
    told = [held.spend(age_s) for _ in range(6)]

    assert told == [left + still - 1 - at for at in range(still)] + [None] * (6 - still)
    assert held.dropped == 5 - still


def test_a_slice_is_spent_and_expires() -> None:
    """One call after the other is told what there is; then, or after 50 ms, the bucket must be asked."""
    held = Slice(HUNDRED)
    assert held.spend(0.0) is None
    held.fill(3, 40.0, asked_at=10.0)

    assert [held.spend(10.0), held.spend(10.04), held.spend(10.04)] == [41.0, 40.0, None]
    held.fill(3, 40.0, asked_at=11.0)
    assert held.spend(11.05) is None
    assert held.spend(11.0) is None


def test_what_was_dropped_was_not_spent() -> None:
    """A process that spends one of three asks for one."""
    held = Slice(HUNDRED)
    held.fill(3, 40.0, asked_at=10.0)
    held.spend(10.06)

    assert (held.held, held.dropped, held.wanted(10.06)) == (0, 2, 1)


def test_what_came_to_nothing_is_held_again() -> None:
    """In the slice that it came from, and in no later one."""
    held = Slice(HUNDRED)
    held.fill(2, 40.0, asked_at=10.0)
    held.spend(10.0)
    held.unspend(10.0)
    assert held.spend(10.0) == 40.0

    held.fill(2, 40.0, asked_at=10.01)
    held.unspend(10.0)
    assert [held.spend(10.02), held.spend(10.02)] == [40.0, None]


def test_one_call_asks_for_a_slice() -> None:
    """Those that come meanwhile ask for one token each; afterwards the next asks for more."""
    held = Slice(THOUSAND)
    held.fill(4, 500.0, asked_at=10.0)
    held.held = 0

    assert [held.wanted(10.01) for _ in range(3)] == [8, 1, 1]
    held.asking = False
    assert held.wanted(10.01) == 8


def test_a_refusal_is_remembered() -> None:
    """The next call asks for one token."""
    held = Slice(THOUSAND)
    held.fill(0, 0.3, asked_at=10.0)

    assert (held.spend(10.0), held.wanted(10.0)) == (None, 1)


def test_slices_are_of_a_bucket_and_a_declared_rate() -> None:
    """What was held under another declaration is not there any more; rates that allow nothing in advance have none."""
    slices = Slices()
    first = slices.of(quota(HUNDRED), 0.0)

    assert first is not None
    assert slices.of(quota(Rate(count=100, per_s=1.0)), 0.0) is first
    assert slices.of(quota(HUNDRED, "other"), 0.0) is not first
    changed = slices.of(quota(THOUSAND), 0.0)
    assert changed is not None
    assert (changed is first, changed.rate) == (False, THOUSAND)
    assert slices.of(quota(HUNDRED), 0.0) is not first
    assert slices.of(quota(Rate(count=5, per_s=60.0)), 0.0) is None


def test_what_slices_hold_is_spent_by_bucket_and_rate() -> None:
    """Nothing of a bucket that was never asked, of another, or of another declared rate; and what is put back is there."""
    slices = Slices()
    held = slices.of(quota(HUNDRED), 0.0)
    assert held is not None
    held.fill(2, 40.0, asked_at=0.0)

    nothing = [quota(HUNDRED, "other"), quota(THOUSAND)]
    assert [slices.spend(it, 0.0) for it in nothing] == [None, None]
    assert [slices.spend(quota(HUNDRED), 0.0) for _ in range(2)] == [40.0, None]
    slices.unspend(quota(HUNDRED))
    assert slices.spend(quota(HUNDRED), 0.0) == 40.0


def test_idle_buckets_are_forgotten() -> None:
    """A slice that expired is not kept for ever; one that is held, or asked for, is."""
    slices = Slices()
    for number in range(module._SWEEP_EVERY - 1):
        slices.of(quota(HUNDRED, f"idle-{number}"), 0.0)
    asked = slices.of(quota(HUNDRED, "idle-0"), 0.0)
    held = slices.of(quota(HUNDRED, "idle-1"), 0.0)
    assert asked is not None
    assert held is not None
    asked.wanted(0.0)
    held.fill(2, 40.0, asked_at=9.91)
    slices.of(quota(HUNDRED, "one more"), 10.0)

    assert len(slices) == 3
    assert slices.of(quota(HUNDRED, "idle-0"), 10.0) is asked
    assert slices.of(quota(HUNDRED, "idle-1"), 10.0) is held


def passes(held: Slice, shared: Buckets, bucket: Quota, now: float) -> bool:
    """One call of a process."""
    if held.spend(now) is not None:
        return True
    taken = shared.take([bucket], [held.wanted(now)], now=now)
    held.asking = False
    held.fill((taken.counts or (0,))[0], taken.tokens[0], asked_at=now)
    return taken.refused is None


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from([1, 2, 3, 5, 40, 120]),
            st.sampled_from([0.0, 0.004, 0.02, 0.045, 0.3, 2.0]),
        ),
        min_size=5,
        max_size=60,
    )
)
@example([(0, 1, 2.0), (0, 1, 0.0), (1, 1, 0.0), (2, 120, 0.03), (0, 9, 0.0), (1, 9, 0.0)])
def test_processes_never_pass_more_than_the_bucket_lets_through(steps: list[tuple[int, int, float]]) -> None:
    """In any stretch of time: a full bucket and what flowed in since, with three processes that hold tokens of it."""
    shared, now, passed = Buckets(), 0.0, list[tuple[float, int]]()
    bucket, processes = quota(HUNDRED), [Slices() for _ in range(3)]
    for process, calls, pause in steps:
        now += pause
        held = processes[process].of(bucket, now)
        assert held is not None
        passed.append((now, sum(passes(held, shared, bucket, now) for _ in range(calls))))

    for first, (began, _) in enumerate(passed):
        together = 0
        for ended, many in passed[first:]:
            together += many
            assert together <= 100 + 100 * (ended - began) + 1e-6
