"""The warning before calls are cut off, and the advice."""

import pytest

from gateway.stages.monitor.headroom import Declared, Headroom, headroom_of, percentile, seconds

FIVE = Declared(read_s=5.0, total_s=20.0)


def of(*times_s: tuple[int, float], declared: Declared = FIVE, timed_out: int = 0) -> Headroom:
    """Headroom of so many calls of so many seconds each."""
    ordered = sorted(time_s * 1000 for count, time_s in times_s for _ in range(count))
    return headroom_of(ordered, declared, timed_out=timed_out)


def test_A07_a_p95_of_4_6_s_under_a_timeout_of_5_s_is_a_warning() -> None:
    """Nothing has failed yet, and the sentence says what will and what to do."""
    warned = of((90, 1.0), (10, 4.6))

    assert (warned.near, warned.near_share, warned.cut_off) == (10, 0.1, 0)
    assert warned.warning == (
        "p95 is 4.6 s and the timeout is 5 s: 10 of 100 calls took more than 90% of it."
        " Raise timeouts.read or make the tool faster, before calls are cut off."
    )


def test_A07_a_p95_far_from_the_timeout_is_no_warning() -> None:
    """Half of the time is headroom enough."""
    assert of((90, 1.0), (10, 2.5)).warning is None


@pytest.mark.parametrize(("slow", "warned"), [(2, False), (3, True)])
def test_A07_more_than_two_percent_of_calls_near_the_timeout_is_a_warning(
    slow: int,
    warned: bool,  # noqa: FBT001
) -> None:
    """Although p95 is far from it."""
    assert (of((100 - slow, 1.0), (slow, 4.9)).warning is not None) is warned


@pytest.mark.parametrize(("fast", "slow", "warned"), [(0, 19, False), (0, 20, True), (19, 1, False), (18, 2, True)])
def test_few_calls_are_no_warning(
    fast: int,
    slow: int,
    warned: bool,  # noqa: FBT001
) -> None:
    """Below 20 there is no p95 to speak of; between 20 and 100, p95 alone decides."""
    assert (of((fast, 1.0), (slow, 4.9)).warning is not None) is warned


def test_near_is_beyond_nine_tenths_and_cut_off_from_the_timeout_on() -> None:
    """The edges: exactly 90 % is not near, exactly the timeout is cut off."""
    edges = of((1, 4.5), (1, 4.501), (1, 4.999), (1, 5.0), (1, 5.5))

    assert (edges.near, edges.near_share, edges.cut_off) == (4, 0.8, 2)


def test_the_shorter_of_the_two_timeouts_counts() -> None:
    """A call ends with `total`, too."""
    assert of((1, 1.0), declared=Declared(read_s=5.0, total_s=3.0)).timeout_s == 3.0


@pytest.mark.parametrize(
    ("times", "declared", "advised_s", "advice"),
    [
        ([(98, 1.0), (2, 6.2)], FIVE, 8.1,
         "p99 of 100 calls is 6.2 s; 5 s cuts off 2 of them. Raise timeouts.read to 8.1 s."),
        ([(100, 4.0)], Declared(read_s=4.0, total_s=5.0), 5.2,
         ("p99 of 100 calls is 4 s; 4 s cuts off 100 of them."
          " Raise timeouts.read to 5.2 s, and timeouts.total above 5 s.")),
        ([(100, 0.12)], FIVE, 0.16,
         ("p99 of 100 calls is 120 ms; 5 s cuts off 0 of them."
          " 0.16 s would do: a tool that hangs would be noticed sooner.")),
        ([(100, 3.0)], FIVE, 3.9, "p99 of 100 calls is 3 s; 5 s cuts off 0 of them. It may stay."),
        ([(100, 0.001)], FIVE, 0.1,
         ("p99 of 100 calls is 1 ms; 5 s cuts off 0 of them."
          " 0.1 s would do: a tool that hangs would be noticed sooner.")),
        ([(99, 0.1)], FIVE, None, "99 calls are too few to advise from; 100 are enough."),
        ([], FIVE, None, "0 calls are too few to advise from; 100 are enough."),
    ],
)  # fmt: skip
def test_advice_is_p99_with_headroom(
    times: list[tuple[int, float]], declared: Declared, advised_s: float | None, advice: str
) -> None:
    """And how many calls the present value cuts off; nothing is advised from few calls."""
    told = of(*times, declared=declared)

    assert (told.advised_s, told.advice) == (advised_s, advice)


@pytest.mark.parametrize(("timed_out", "known"), [(1, True), (2, False)])
def test_calls_that_ran_out_of_time_hide_their_p99(
    timed_out: int,
    known: bool,  # noqa: FBT001
) -> None:
    """The time of a call that was ended is no time of the tool; only above p99 does it not matter."""
    told = of((100 - timed_out, 1.0), (timed_out, 5.0), timed_out=timed_out)

    assert (told.advised_s is not None) is known
    if not known:
        assert told.advice == (
            "2 of 100 calls ran out of time, so their p99 is not known; it is at least 5 s."
            " Raise timeouts.read above 5 s and look again, or find out why the tool is slow."
        )


@pytest.mark.parametrize(("share", "value"), [(0.5, 50.0), (0.95, 95.0), (0.99, 99.0), (1.0, 100.0), (0.0, 1.0)])
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    """The nearest rank, of one to a hundred."""
    assert percentile([float(n) for n in range(1, 101)], share) == value
    assert percentile([], share) is None


@pytest.mark.parametrize(("milliseconds", "text"), [(4600.0, "4.6 s"), (999.0, "999 ms"), (0.42, "0.42 ms")])
def test_times_are_told_for_people(milliseconds: float, text: str) -> None:
    """Seconds from one second on."""
    assert seconds(milliseconds) == text
