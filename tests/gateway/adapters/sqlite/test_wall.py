"""A wall clock that never says less than what the file has been told."""

from dataclasses import replace

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


HOUR_S = 3_600.0


def passed(wall: WallClock, stamp: float) -> float:
    """How much time the clock takes to have passed since."""
    return round(wall.as_of(stamp) - stamp, 3)


async def test_a_step_forward_lets_no_time_pass(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """For what was stamped before it; the clock itself is followed, and what is stamped with it counts from there."""
    wall = WallClock(machine_host, file.reading)
    stamp = wall.now()
    await clock.advance(10.0)
    clock.step_wall(HOUR_S)

    assert wall.now() == clock.wall() == stamp + 10.0 + HOUR_S
    assert passed(wall, stamp) == 10.0
    assert wall.before(10.0) == stamp
    later = wall.now()
    await clock.advance(5.0)
    assert (passed(wall, later), passed(wall, stamp)) == (5.0, 15.0)


async def test_a_process_that_starts_after_the_step_knows_it(
    file: OpenFile, machine_host: Host, clock: ManualClock
) -> None:
    """No process ran when the clock was set: the file says where it stood beside the clock of this boot."""
    before = WallClock(machine_host, file.reading)
    before.stamp(file.writing)
    stamp = before.now()
    await clock.advance(10.0)
    clock.step_wall(HOUR_S)

    reborn = WallClock(machine_host, file.reading)
    assert passed(reborn, stamp) == 10.0
    reborn.stamp(file.writing)
    await clock.advance(1.0)
    third = WallClock(machine_host, file.reading)
    assert passed(third, stamp) == 11.0
    assert passed(third, clock.wall() - 1.0) == 1.0


async def test_a_step_is_remembered_over_a_boot(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """What was set while the machine was off cannot be told from time that passed: that counts as it stands."""
    wall = WallClock(machine_host, file.reading)
    wall.stamp(file.writing)
    stamp = wall.now()
    clock.step_wall(HOUR_S)
    wall.stamp(file.writing)

    clock.step_wall(100.0)
    booted = WallClock(replace(machine_host, boot_id="another boot"), file.reading)
    assert passed(booted, stamp) == 100.0


async def test_two_processes_see_one_step(file: OpenFile, machine_host: Host, clock: ManualClock) -> None:
    """Each notices it for itself, and whoever comes later counts it once."""
    one, other = WallClock(machine_host, file.reading), WallClock(machine_host, file.reading)
    for each in (one, other):
        each.stamp(file.writing)
    stamp = one.now()
    clock.step_wall(HOUR_S)
    one.stamp(file.writing)
    await clock.advance(2.0)
    for each in (other, one, other):
        each.stamp(file.writing)
        assert passed(each, stamp) == 2.0
    assert passed(WallClock(machine_host, file.reading), stamp) == 2.0


async def test_a_step_that_was_not_made_durable_is_told_again(
    file: OpenFile, machine_host: Host, clock: ManualClock
) -> None:
    """The transaction that told it was rolled back: the next one tells it."""
    wall = WallClock(machine_host, file.reading)
    wall.stamp(file.writing)
    stamp = wall.now()
    clock.step_wall(HOUR_S)
    file.writing.execute("BEGIN IMMEDIATE")
    wall.stamp(file.writing)
    file.writing.execute("ROLLBACK")
    for _ in range(2):
        wall.stamp(file.writing)
    with asked(file.writing) as statements:
        wall.stamp(file.writing)

    assert len(statements) == 1
    assert passed(WallClock(machine_host, file.reading), stamp) == 0.0
