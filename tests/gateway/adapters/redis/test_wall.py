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
