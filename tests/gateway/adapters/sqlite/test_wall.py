"""A wall clock that never says less than what the file has been told."""

from gateway.adapters.sqlite.host import Host
from gateway.adapters.sqlite.opening import OpenFile
from gateway.adapters.sqlite.wall import WallClock
from tests.clocks import ManualClock
from tests.gateway.adapters.sqlite.asking import asked


def test_it_follows_the_machine(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """As long as nothing larger is stored, it is the machine's."""
    wall = WallClock(machine_host, file.reading)

    assert wall.now() == clock.wall()
    clock.step_wall(-100.0)
    assert wall.now() == clock.wall()
    assert not wall.stepped_back()


async def test_what_one_process_stored_holds_up_another(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """A step back is noticed against what any process stored, also by one that has stored nothing itself."""
    one, other = WallClock(machine_host, file.reading), WallClock(machine_host, file.reading)
    other.now()
    await clock.advance(50.0)
    one.stamp(file.writing)
    stored = clock.wall()
    clock.step_wall(-40.0)

    assert other.now() == stored
    assert other.stepped_back()


async def test_a_new_process_learns_it_from_the_file(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """The largest time outlives whoever stored it."""
    WallClock(machine_host, file.reading).stamp(file.writing)
    stored = clock.wall()
    clock.step_wall(-6.0)

    reborn = WallClock(machine_host, file.reading)
    reborn.stamp(file.writing)

    assert reborn.now() == stored
    assert reborn.stepped_back()


async def test_it_asks_the_file_only_after_a_step(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """While the clocks run evenly the time costs no query."""
    wall = WallClock(machine_host, file.reading)
    wall.now()

    with asked(file.reading) as statements:
        for _ in range(10):
            await clock.advance(10.0)
            wall.now()
        assert statements == []
        clock.step_wall(1.0)
        wall.now()

    assert len(statements) == 1


async def test_a_clock_that_is_held_up_goes_on(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """After another process's clock stood a minute ahead, an hour is over in little more than an hour."""
    clock.step_wall(60.0)
    WallClock(machine_host, file.reading).stamp(file.writing)
    ahead = clock.wall()
    clock.step_wall(-60.0)
    wall = WallClock(machine_host, file.reading)
    wall.now()
    await clock.advance(30.0)

    assert wall.now() == ahead + 27.0
    await clock.advance(3_570.0)
    assert wall.now() == clock.wall()
    assert not wall.stepped_back()
