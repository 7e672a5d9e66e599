"""How long a retry waits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.stages.retry.backoff import RETRY_AFTER_JITTER, asked_s, full_jitter_s


@pytest.mark.parametrize(
    ("retries", "draw", "seconds"),
    [(0, 0.5, 0.5), (1, 0.5, 1.0), (2, 0.5, 2.0), (0, 0.0, 0.0), (9, 0.5, 15.0), (10_000, 0.5, 15.0)],
)
def test_full_jitter_doubles_to_the_cap(retries: int, draw: float, seconds: float) -> None:
    """A base of 1 s doubles with each retry until 30 s, and the draw takes any part of it."""
    assert full_jitter_s(base_s=1.0, cap_s=30.0, retries=retries, draw=draw) == seconds


@given(st.floats(0.0, 60.0), st.floats(0.0, 600.0), st.integers(0, 10**6), st.floats(0.0, 1.0, exclude_max=True))
def test_the_cap_is_never_exceeded(base_s: float, cap_s: float, retries: int, draw: float) -> None:
    """Whatever the numbers, a wait is neither negative nor longer than the cap."""
    assert 0.0 <= full_jitter_s(base_s=base_s, cap_s=cap_s, retries=retries, draw=draw) <= cap_s


@pytest.mark.parametrize("draw", [0.0, 0.5, 0.999])
def test_a_wait_that_was_asked_for_is_never_cut(draw: float) -> None:
    """Never earlier than the dependency said, and at most a tenth later."""
    assert 10.0 <= asked_s(10.0, draw=draw) <= 10.0 * (1 + RETRY_AFTER_JITTER)
    assert asked_s(10.0, draw=0.5) == pytest.approx(10.5)
