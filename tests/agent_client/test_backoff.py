"""How long a wait may be."""

import pytest

from agent_client.backoff import INFERENCE_BOUNDS_S, full_jitter


def test_L42_the_bounds_are_half_a_second_one_and_two() -> None:
    """Three waits, so four attempts."""
    assert INFERENCE_BOUNDS_S == (0.5, 1.0, 2.0)


@pytest.mark.parametrize(("draw", "wait"), [(0.0, 0.0), (0.5, 1.0), (0.999, 1.998)])
def test_L42_a_wait_is_anywhere_below_its_bound(draw: float, wait: float) -> None:
    """Uniform in [0, bound), by the draw."""
    assert full_jitter(2.0, draw) == pytest.approx(wait)


def test_what_was_asked_for_is_the_least() -> None:
    """A provider's `Retry-After` holds."""
    assert full_jitter(2.0, 0.1, at_least_s=5.0) == 5.0
