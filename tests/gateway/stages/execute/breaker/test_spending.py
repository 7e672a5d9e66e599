"""What runs have spent."""

from gateway.stages.execute.breaker.spending import KEPT_S, Purse, Purses, fits

RUN = Purse(tenant="acme", run_id="run-1", unit="refund")


def test_ten_tenths_are_one() -> None:
    """A budget is reached, not missed by the last digit."""
    purses = Purses()
    spent = [purses.reserve(RUN, str(number), 0.1, 1.0, now=0.0) for number in range(11)]

    assert spent[:10] == [None] * 10
    assert spent[10] is not None
    assert fits(0.9, 0.1, 1.0)
    assert not fits(1.0, 0.1, 1.0)


def test_a_run_that_is_over_is_forgotten() -> None:
    """After a month without spending; one that goes on is kept."""
    purses = Purses()
    purses.reserve(RUN, "a", 1, 5, now=0.0)
    other = Purse(tenant="acme", run_id="run-2", unit="refund")
    purses.reserve(other, "a", 1, 5, now=1.0)
    purses.reserve(RUN, "b", 1, 5, now=KEPT_S)
    purses.reserve(Purse(tenant="acme", run_id="run-3", unit="refund"), "a", 1, 5, now=KEPT_S + 1)

    assert len(purses) == 2
    assert purses.reserve(RUN, "c", 4, 5, now=KEPT_S + 1) == 2
    assert purses.reserve(other, "c", 5, 5, now=KEPT_S + 1) is None


def test_what_is_taken_back_leaves_nothing() -> None:
    """Also when it never was there."""
    purses = Purses()
    purses.reserve(RUN, "a", 1, 5, now=0.0)
    purses.release(RUN, "a")
    purses.release(RUN, "a")

    assert len(purses) == 0
