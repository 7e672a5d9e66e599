"""What a host's clock is held up by."""

import pytest

from gateway.at_rest.largest_wall import LargestWall


def test_it_runs_on_a_little_slower_than_time() -> None:
    """In a minute, 54 s: what was to last a minute lasts no longer than that, and the host's own clock catches up."""
    largest = LargestWall()
    largest.learn(1_000.0, monotonic=50.0)

    assert largest.now(50.0) == 1_000.0
    assert largest.now(110.0) == pytest.approx(1_054.0)
    assert largest.stored == 1_000.0


def test_what_is_stored_counts_where_it_is_later() -> None:
    """A later time is taken over; an earlier one, or one that time has passed, changes nothing."""
    largest = LargestWall()
    largest.learn(1_000.0, monotonic=50.0)
    largest.learn(1_008.0, monotonic=60.0)
    assert (largest.now(60.0), largest.stored) == (1_009.0, 1_000.0)

    largest.learn(1_020.0, monotonic=60.0)
    assert (largest.now(60.0), largest.stored) == (1_020.0, 1_020.0)


def test_it_does_not_go_back_with_the_clock_that_is_never_set() -> None:
    """Two readings of it may come out of order by a hair."""
    largest = LargestWall()
    largest.learn(1_000.0, monotonic=50.0)

    assert largest.now(49.9) == 1_000.0
