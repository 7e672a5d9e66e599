"""A wall clock held up by what is stored."""

import pytest

from gateway.adapters.redis.wall import WallClock
from tests.clocks import ManualClock


def test_it_never_says_less_than_what_is_stored() -> None:
    """Another gateway's later time holds, and past 5 s it is said that this host's clock is behind."""
    clock = ManualClock()
    wall = WallClock(clock, clock.wall)
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
    wall = WallClock(clock, clock.wall)
    ahead = clock.wall() + 60.0
    wall.learn(ahead)
    await clock.advance(30.0)

    assert wall.now() == ahead + 27.0
    await clock.advance(3_570.0)
    assert wall.now() == clock.wall()
    assert not wall.stepped_back()


HOUR_S = 3_600.0


async def test_a_step_forward_lets_no_time_pass() -> None:
    """For what was stamped before it; what is stamped after it counts as the clock says."""
    clock = ManualClock()
    wall = WallClock(clock, clock.wall)
    stamp = wall.now()
    await clock.advance(10.0)
    clock.step_wall(HOUR_S)
    later = wall.now()
    await clock.advance(5.0)

    assert wall.as_of(stamp) - stamp == 15.0
    assert wall.as_of(later) - later == 5.0
    assert (wall.before(15.0), wall.before(5.0)) == (stamp, later)


async def test_the_step_of_another_gateway_lets_no_time_pass_here() -> None:
    """Its clock holds this one up from its first stored time on; the windows of this one go on as they were."""
    clock = ManualClock()
    wall = WallClock(clock, clock.wall)
    stamp = wall.now()
    wall.learn(stamp)
    await clock.advance(10.0)
    wall.learn(clock.wall() + HOUR_S)

    assert wall.now() == clock.wall() + HOUR_S
    assert wall.as_of(stamp) - stamp == 10.0
    assert wall.before(10.0) == stamp


@pytest.mark.parametrize("heard", [True, False], ids=["an answer with its time", "only the server's clock"])
async def test_a_host_that_starts_ahead_of_the_server(heard: bool) -> None:  # noqa: FBT001
    """What was stored before ages by the server's clock; a host behind it is believed."""
    clock = ManualClock()
    server = ManualClock(wall=clock.wall() - HOUR_S)
    stamp = server.wall() - 60.0
    wall = WallClock(clock, server.wall)
    if heard:
        wall.learn(wall.now())

    assert wall.as_of(stamp) - stamp == 60.0
    behind = WallClock(server, clock.wall)
    assert behind.as_of(stamp) - stamp == 60.0


async def test_the_server_is_a_witness_at_the_start_only() -> None:
    """A clock of it that is set back later takes no time from anything."""
    clock, server = ManualClock(), ManualClock()
    wall = WallClock(clock, server.wall)
    stamp = wall.now()
    wall.learn(stamp)
    server.step_wall(-HOUR_S)
    await clock.advance(10.0)
    wall.learn(wall.now())

    assert wall.as_of(stamp) - stamp == 10.0
