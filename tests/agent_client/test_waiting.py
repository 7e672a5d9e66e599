"""Waiting on a clock that a test holds."""

import asyncio

import pytest

from agent_client.waiting import within
from tests.clocks import ManualClock
from tests.waiting import turns


async def test_what_is_done_in_time_is_given_and_its_error_raised() -> None:
    """The clock does not move for it."""

    async def fails() -> int:
        raise LookupError("its own")

    async def tells() -> int:
        await turns()
        return 7

    clock = ManualClock()
    assert await within(clock, 5.0, tells()) == 7
    with pytest.raises(LookupError, match="its own"):
        await within(clock, 5.0, fails())
    assert clock.sleeping == 0


async def test_what_takes_longer_is_cancelled() -> None:
    """At its time and not before."""
    clock, cancelled = ManualClock(), asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    waiting = asyncio.create_task(within(clock, 5.0, forever()))
    await clock.advance(4.9)
    assert not waiting.done()

    await clock.advance(0.2)

    with pytest.raises(TimeoutError, match=r"5\.0 s"):
        await waiting
    assert cancelled.is_set()


async def test_who_is_cancelled_takes_the_work_along() -> None:
    """Nothing is left running."""
    clock, cancelled = ManualClock(), asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    waiting = asyncio.create_task(within(clock, 5.0, forever()))
    await clock.settle()
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert cancelled.is_set()
