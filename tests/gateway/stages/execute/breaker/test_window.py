"""What a process remembers of its last calls to a dependency."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.window import BUCKETS, Window, record, totals, trips

POLICY = BreakerPolicy(scope="payments", consecutive=3, failure_rate=0.5, window_s=10.0, min_calls=4)


def after(results: str, *, policy: BreakerPolicy = POLICY, now: float = 100.0) -> Window:
    """The window after calls that ended all at once: `x` is a failure, `.` a success."""
    window = Window()
    for result in results:
        window = record(window, policy, failed=result == "x", now=now)
    return window


@pytest.mark.parametrize(
    ("results", "opens"),
    [
        ("", False),
        ("xx", False),
        ("xxx", True),
        ("xx.x", True),
        ("x.x", False),
        ("x...", False),
        ("x.x.", True),
        ("xx.xx.xx.xx.", True),
    ],
)
def test_opens_on_failures_in_a_row_or_on_their_rate(results: str, opens: bool) -> None:  # noqa: FBT001
    """Three in a row open it, or half of four or more; too few calls have no rate."""
    assert trips(after(results), POLICY, now=100.0) is opens


@pytest.mark.parametrize(
    ("changed", "results"),
    [
        ({"consecutive": 2}, "xx"),
        ({"failure_rate": 0.25}, "x..."),
        ({"min_calls": 2}, "x."),
    ],
)
def test_every_threshold_is_the_policys(changed: dict[str, float], results: str) -> None:
    """A lower threshold opens on calls that the policy above bears."""
    stricter = replace(POLICY, **changed)  # type: ignore[arg-type]  # ints and floats alike

    assert not trips(after(results), POLICY, now=100.0)
    assert trips(after(results, policy=stricter), stricter, now=100.0)


def test_calls_leave_the_window() -> None:
    """What is older than `window_s` no longer counts for the rate."""
    window = after("x.x.", now=100.0)

    assert totals(window, POLICY, now=109.9) == (2, 4)
    assert totals(window, POLICY, now=110.0) == (0, 0)


def test_a_longer_window_remembers_longer() -> None:
    """`window_s` is the policy's."""
    longer = replace(POLICY, window_s=60.0)

    assert totals(after("x.", policy=longer), longer, now=159.0) == (1, 2)


def test_failures_in_a_row_are_counted_across_any_gap() -> None:
    """A dependency that fails once an hour, every hour, is down."""
    window = Window()
    for hour in range(3):
        window = record(window, POLICY, failed=True, now=hour * 3600.0)

    assert trips(window, POLICY, now=7200.0)


@given(st.lists(st.tuples(st.floats(0.0, 3.0), st.booleans()), max_size=200))
def test_the_window_is_bounded_and_never_counts_more_than_was_called(calls: list[tuple[float, bool]]) -> None:
    """However calls arrive, the window stays small and its totals are true to within one bucket."""
    now, window, times = 0.0, Window(), list[tuple[float, bool]]()
    for pause, failed in calls:
        now += pause
        window = record(window, POLICY, failed=failed, now=now)
        times.append((now, failed))

    failures, total = totals(window, POLICY, now=now)
    inside = [failed for at, failed in times if at > now - POLICY.window_s]
    nearly = [failed for at, failed in times if at > now - POLICY.window_s * (1 - 1 / BUCKETS)]
    assert len(window.buckets) <= BUCKETS + 1
    assert sum(nearly) <= failures <= sum(inside)
    assert len(nearly) <= total <= len(inside)
