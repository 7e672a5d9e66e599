"""Breakers as stores keep them."""

import pytest

from gateway.at_rest.breakers import breaker_of, breaker_text
from gateway.stages.execute.breaker.breaker import Breaker, Forced, State
from gateway.stages.execute.breaker.ports import BreakerStoreAway

OPEN = Breaker(
    state=State.OPEN,
    generation=7,
    since=1.5,
    open_until=1_790_000_000.123456,
    probe_until=2.25,
    rounds=1,
    failures=3,
    of=4,
    last_code="connect_failed",
    forced=Forced(to=State.CLOSED, reason="ü", until=2.5),
    mark="m",
)


@pytest.mark.parametrize("breaker", [OPEN, Breaker(), Breaker(state=State.HALF_OPEN, generation=8)])
def test_a_breaker_comes_back_as_it_went_in(breaker: Breaker) -> None:
    """Every field of it."""
    assert breaker_of("payments", breaker_text("payments", breaker)) == breaker


@pytest.mark.parametrize("nothing", [None, b"", ""])
def test_without_a_text_nobody_wrote(nothing: bytes | str | None) -> None:
    """A closed breaker of the first generation."""
    assert breaker_of("payments", nothing) == Breaker()


def test_anothers_breaker_is_none() -> None:
    """What was stored for one scope is not shown for another."""
    with pytest.raises(BreakerStoreAway):
        breaker_of("orders", breaker_text("payments", OPEN))


@pytest.mark.parametrize(
    "change", [(b'"generation"', b'"generations"'), (b'"open"', b'"ajar"'), (b'"forced"', b'"free"')]
)
def test_what_another_version_wrote_is_not_guessed_at(change: tuple[bytes, bytes]) -> None:
    """A member or a word that is not known here: each process then goes by what it has seen itself."""
    text = breaker_text("payments", OPEN)
    told = text.replace(*change)
    with pytest.raises(BreakerStoreAway):
        breaker_of("payments", told)
