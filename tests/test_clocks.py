"""The fake clock keeps the promises that the other tests rest on."""

import asyncio

from tests.clocks import AheadClock, ManualClock
from tests.waiting import turns


async def test_time_stands_still() -> None:
    """Nothing passes until the test says so."""
    clock = ManualClock(monotonic=5.0, wall=100.0)

    await turns()

    assert (clock.monotonic(), clock.wall()) == (5.0, 100.0)


async def test_sleepers_wake_in_the_order_they_fall_due() -> None:
    """Each wakes at its own moment, also one that falls asleep again on the way."""
    clock = ManualClock(monotonic=0.0)
    woken: list[tuple[str, float]] = []

    async def nap(name: str, *naps: float) -> None:
        """Sleep, again and again."""
        for seconds in naps:
            await clock.sleep(seconds)
            woken.append((name, clock.monotonic()))

    async with asyncio.TaskGroup() as group:
        group.create_task(nap("late", 3.0))
        group.create_task(nap("twice", 1.0, 1.0))
        await clock.sleepers(2)
        await clock.advance(2.5)
        assert woken == [("twice", 1.0), ("twice", 2.0)]
        await clock.advance(0.5)

    assert woken[-1] == ("late", 3.0)


async def test_a_cancelled_sleeper_is_gone() -> None:
    """A sleep that was cancelled counts as nobody and stops nothing."""
    clock = ManualClock()
    sleeper = asyncio.create_task(clock.sleep(1.0))
    await clock.sleepers(1)

    sleeper.cancel()
    await asyncio.gather(sleeper, return_exceptions=True)

    assert clock.sleeping == 0
    await clock.advance(2.0)
    assert clock.monotonic() == 1_002.0


async def test_rounding_strands_nobody() -> None:
    """Small steps that add up to a sleep wake the sleeper."""
    clock = ManualClock(monotonic=0.0)
    sleeper = asyncio.create_task(clock.sleep(0.3))
    await clock.sleepers(1)

    for _ in range(3):
        await clock.advance(0.1)

    assert sleeper.done()


async def test_the_wall_clock_steps_alone() -> None:
    """A step of the wall clock leaves waits and deadlines untouched."""
    clock = ManualClock(monotonic=10.0, wall=100.0)

    clock.step_wall(-6.0)

    assert (clock.monotonic(), clock.wall()) == (10.0, 94.0)


def test_what_is_added_to_the_real_clock_has_passed() -> None:
    """A minute is over at once, and real time goes on from there."""
    clock = AheadClock()
    before = clock.monotonic()

    clock.ahead_s += 60.0

    assert clock.monotonic() >= before + 60.0
