"""An operator's word on a breaker."""

import pytest

from gateway.contract.codes import BreakerCount
from gateway.stages.execute.breaker.breaker import (
    Breaker,
    Kind,
    NotPermitted,
    Permitted,
    Refusal,
    State,
)
from gateway.stages.execute.breaker.override import force, release
from gateway.stages.execute.breaker.window import Window
from tests.gateway.stages.execute.breaker.payments import OPEN, PROBING, ask, tell


def test_an_operator_opens_it() -> None:
    """While forced open nothing goes, not even a look-up, and the reason is told; then a probe is due."""
    forced = force(Breaker(), State.OPEN, reason="bank holiday", until=200.0, now=100.0)

    refused = ask(forced, now=150.0, kind=Kind.LOOKUP)

    assert isinstance(refused, NotPermitted)
    assert (refused.reason, refused.retry_after_s, refused.forced) == (Refusal.FORCED_OPEN, 50.0, "bank holiday")
    lapsed = ask(forced, now=200.0)
    assert isinstance(lapsed, Permitted)
    assert lapsed.probe


@pytest.mark.parametrize("before", [OPEN, PROBING, Breaker()])
def test_an_operator_closes_it(before: Breaker) -> None:
    """While forced closed everything goes and no failure opens it; afterwards failures count as ever."""
    breaker, window = force(before, State.CLOSED, reason="they are back", until=300.0, now=200.0), Window()
    for _ in range(5):
        assert isinstance(ask(breaker, now=250.0, kind=Kind.PLAIN), Permitted)
        breaker, window = tell(breaker, BreakerCount.FAILURE, now=250.0, window=window)
    assert breaker.state is State.CLOSED

    breaker, _ = tell(breaker, BreakerCount.FAILURE, now=300.0, window=window)

    assert breaker.state is State.OPEN


def test_results_from_before_an_operators_word_are_old_news() -> None:
    """A probe that was out when an operator closed the breaker does not open it again."""
    forced = force(PROBING, State.CLOSED, reason="they are back", until=300.0, now=170.0)

    assert tell(forced, BreakerCount.FAILURE, now=171.0, generation=PROBING.generation)[0] is forced


def test_an_operators_word_can_be_taken_back() -> None:
    """A breaker that was forced open probes at once; one that was not forced stays as it is."""
    forced = force(Breaker(), State.OPEN, reason="bank holiday", until=900.0, now=100.0)

    released = release(forced, now=200.0)

    assert isinstance(ask(released, now=200.0), Permitted)
    assert release(released, now=200.0) is released
    assert release(OPEN, now=100.0) is OPEN


def test_half_open_cannot_be_forced() -> None:
    """An operator opens or closes; a probe is the machine's own."""
    with pytest.raises(KeyError):
        force(OPEN, State.HALF_OPEN, reason="-", until=1.0, now=0.0)
