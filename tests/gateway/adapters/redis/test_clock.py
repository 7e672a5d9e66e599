"""The server's clock, estimated."""

from gateway.adapters.redis.clock import ServerClock
from tests.clocks import ManualClock


async def test_it_errs_late_by_the_way_there() -> None:
    """An answer of 2 s that was asked for 0.3 s ago is taken for 2 s at the asking: never less than the server has."""
    mine = ManualClock(monotonic=100.0)
    clock = ServerClock(mine)
    asked_at = mine.monotonic()
    await mine.advance(0.3)
    clock.heard(5_000.0, asked_at=asked_at)

    assert clock.now() == 5_000.3


async def test_the_quickest_answer_counts() -> None:
    """A slow one tells less, and does not spoil what is known."""
    mine = ManualClock(monotonic=100.0)
    clock = ServerClock(mine)
    clock.heard(5_000.0, asked_at=99.0)
    clock.heard(5_000.0, asked_at=99.9)
    clock.heard(5_000.0, asked_at=98.0)

    assert abs(clock.now() - 5_000.1) < 0.001
    await mine.advance(1.5)
    assert abs(clock.now() - 5_001.6) < 0.001


async def test_what_was_quick_long_ago_is_forgotten() -> None:
    """Clocks drift apart: after a minute only younger answers count."""
    mine = ManualClock(monotonic=100.0)
    clock = ServerClock(mine)
    clock.heard(5_000.0, asked_at=100.0)
    for _ in range(4):
        await mine.advance(31.0)
        clock.heard(5_000.0 + mine.monotonic() - 100.0 - 0.002, asked_at=mine.monotonic() - 0.001)

    assert abs(clock.now() - (5_000.0 + mine.monotonic() - 100.0 - 0.001)) < 0.0005


async def test_a_step_forward_is_followed_and_a_step_back_waited_out() -> None:
    """The server's clock jumps: ours never goes back."""
    mine = ManualClock(monotonic=100.0)
    clock = ServerClock(mine)
    clock.heard(5_000.0, asked_at=100.0)
    clock.heard(5_060.0, asked_at=100.0)
    assert clock.now() == 5_060.0

    clock.heard(5_000.0, asked_at=100.0)
    assert clock.now() == 5_060.0
    await mine.advance(61.0)
    assert 5_061.0 <= clock.now() < 5_061.1


def test_before_the_first_answer_it_is_our_own() -> None:
    """A guess that is dropped with the first answer, though that says less."""
    mine = ManualClock(monotonic=100.0)
    clock = ServerClock(mine)
    assert clock.now() == mine.wall()

    clock.heard(7.0, asked_at=100.0)
    assert clock.now() == 7.0
