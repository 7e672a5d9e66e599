"""The retry budget."""

import pytest

from gateway.stages.retry.budget import RESERVE, Budget, affords, earn, spend


def test_thin_traffic_has_a_reserve() -> None:
    """A dependency that was never called may be retried a few times."""
    budget, retries = Budget(), 0
    while affords(budget, 0.2):
        budget, retries = spend(budget), retries + 1

    assert retries == RESERVE


@pytest.mark.parametrize("ratio", [0.1, 0.2, 0.5])
def test_a_dependency_that_fails_gets_its_share_of_retries(ratio: float) -> None:
    """Of 500 calls that all fail and would all be retried three times, only `ratio` are, and the reserve."""
    budget, attempts = Budget(), 0
    for _ in range(500):
        budget, attempts = earn(budget, ratio), attempts + 1
        for _ in range(3):
            if affords(budget, ratio):
                budget, attempts = spend(budget), attempts + 1

    assert attempts == pytest.approx(500 * (1 + ratio) + RESERVE, abs=1.5)


def test_no_more_than_the_reserve_is_saved_up() -> None:
    """A quiet week does not pay for a storm."""
    assert earn(Budget(), 0.2) == Budget()


def test_a_ratio_of_zero_means_no_retries() -> None:
    """The reserve is not for tools that want none."""
    assert not affords(Budget(), 0.0)


def test_nothing_is_owed() -> None:
    """A race that spends the last token twice does not run into debt."""
    assert spend(Budget(tokens=0.5)) == Budget(tokens=0.0)
