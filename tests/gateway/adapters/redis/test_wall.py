"""A wall clock held up by what is stored."""

from gateway.adapters.redis.wall import WallClock
from tests.clocks import ManualClock


def test_it_never_says_less_than_what_is_stored() -> None:
    """Another gateway's later time holds, and past 5 s it is said that this host's clock is behind."""
    clock = ManualClock()
    wall = WallClock(clock)
    assert (wall.now(), wall.stepped_back()) == (clock.wall(), False)

    stored = clock.wall() + 5.0
    wall.learn(stored)
    wall.learn(stored - 9.0)
    assert (wall.now(), wall.stepped_back()) == (stored, False)

    clock.step_wall(-0.5)
    assert (wall.now(), wall.stepped_back()) == (stored, True)


async def test_a_clock_that_is_held_up_goes_on() -> None:
    """After another gateway's clock stood a minute ahead, an hour is over in little more than an hour."""
    clock = ManualClock()
    wall = WallClock(clock)
    ahead = clock.wall() + 60.0
    wall.learn(ahead)
    await clock.advance(30.0)

    assert wall.now() == ahead + 27.0
    await clock.advance(3_570.0)
    assert wall.now() == clock.wall()
    assert not wall.stepped_back()
