"""The real clock."""

import time

from gateway.adapters.system.clock import SystemClock
from gateway.clock import Clock


async def test_sleep_takes_its_time_on_the_monotonic_clock() -> None:
    """After a sleep of 20 ms the clock has moved by at least that, bar its resolution."""
    clock: Clock = SystemClock()
    began = clock.monotonic()

    # What is tested.
    await clock.sleep(0.02)

    assert clock.monotonic() - began >= 0.019


def test_the_wall_clock_is_seconds_since_1970() -> None:
    """The date is the operating system's."""
    before = time.time()

    assert before <= SystemClock().wall() <= time.time()
