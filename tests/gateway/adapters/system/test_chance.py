"""Draws, identifiers, tokens."""

import re

from gateway.adapters.system.chance import SystemChance
from tests.clocks import ManualClock


def test_draws_lie_between_0_and_1() -> None:
    """And they differ."""
    chance = SystemChance(ManualClock())
    draws = [chance.draw() for _ in range(100)]

    assert all(0.0 <= draw < 1.0 for draw in draws)
    assert len(set(draws)) > 90


async def test_identifiers_sort_by_the_time_of_their_making() -> None:
    """Within a millisecond, from one to the next, and when the wall clock steps back."""
    clock = ManualClock()
    chance = SystemChance(clock)
    made = [chance.ulid() for _ in range(1_000)]
    await clock.advance(0.001)
    made.append(chance.ulid())
    clock.step_wall(-3_600.0)
    made.append(chance.ulid())

    assert made == sorted(set(made))
    assert all(re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", one) for one in made)


def test_identifiers_are_drawn_anew() -> None:
    """Over many milliseconds each of the 16 random digits takes each of its 32 values."""
    clock = ManualClock()
    chance, made = SystemChance(clock), []
    for _ in range(2_000):
        clock.step_wall(0.001)
        made.append(chance.ulid())

    assert [len({one[place] for one in made}) for place in range(10, 26)] == [32] * 16


def test_an_identifier_tells_its_time() -> None:
    """The first ten characters are milliseconds since 1970, in Crockford's base 32."""
    chance = SystemChance(ManualClock(wall=1_469_918_176.385))

    assert chance.ulid()[:10] == "01ARYZ6S41"


def test_two_processes_do_not_make_the_same() -> None:
    """In the same millisecond, 80 random bits tell them apart."""
    clock = ManualClock()

    assert SystemChance(clock).ulid() != SystemChance(clock).ulid()


def test_tokens_are_128_bits_and_differ() -> None:
    """Nobody guesses who holds a lease."""
    chance = SystemChance(ManualClock())
    tokens = {chance.token() for _ in range(100)}

    assert len(tokens) == 100
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)
