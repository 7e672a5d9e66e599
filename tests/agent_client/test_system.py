"""The real clock and real chance do what their ports say."""

import time

from agent_client.ports import Chance, Clock
from agent_client.system import SystemChance, SystemClock


async def test_the_clock_tells_time_and_lets_it_pass() -> None:
    """The clock is the machine's: it does not step back, and it sleeps as long as it is told."""
    clock: Clock = SystemClock()
    before = clock.monotonic()
    # What is tested.
    await clock.sleep(0.002)

    assert clock.monotonic() - before >= 0.002
    assert abs(clock.wall() - time.time()) < 60


def test_a_thread_can_wait_on_the_clock() -> None:
    """The blocking faces wait on the same clock."""
    clock = SystemClock()
    before = clock.monotonic()
    clock.sleep_blocking(0.002)

    assert clock.monotonic() - before >= 0.002


def test_chance_gives_spread_and_names() -> None:
    """A draw lies in [0, 1); identifiers have the length asked for and do not come twice."""
    chance: Chance = SystemChance()

    assert 0 <= chance.draw() < 1
    assert [len(chance.hex(digits)) for digits in (1, 7, 32)] == [1, 7, 32]
    assert chance.hex(32) != chance.hex(32)
