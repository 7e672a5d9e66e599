"""What runs beside calls does not end before the process does."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.pipeline.background import PAUSE_S, Background
from tests.clocks import ManualClock

Told = list[tuple[str, str]]


class Work:
    """Begins, and waits for the test to say how it ends."""

    def __init__(self) -> None:
        self.begun: list[asyncio.Future[None]] = []

    async def run(self) -> None:
        """Once."""
        ending = asyncio.get_running_loop().create_future()
        self.begun.append(ending)
        await ending


@pytest.fixture
def told() -> Told:
    """Faults that the log was told of."""
    return []


@pytest.fixture
def clock() -> ManualClock:
    """Moved by the test."""
    return ManualClock()


@pytest.fixture
async def background(told: Told, clock: ManualClock) -> AsyncIterator[Background]:
    """Ended after the test."""
    made = Background(clock, lambda name, fault: told.append((name, type(fault).__name__)))
    yield made
    await made.end()


@pytest.mark.parametrize("fault", [ValueError("ours"), asyncio.CancelledError()], ids=["raised", "cancelled"])
async def test_what_ends_it_is_told_and_it_is_begun_again_after_a_pause(
    background: Background, clock: ManualClock, told: Told, fault: BaseException
) -> None:
    """A bad row; or a connection that somebody closed, which cancels whoever waits for it. What stays does not keep the loop busy."""
    work = Work()
    background.begin("heartbeat", work.run)
    await clock.settle()
    if isinstance(fault, asyncio.CancelledError):
        work.begun[0].cancel()
    else:
        work.begun[0].set_exception(fault)
    await clock.advance(PAUSE_S / 2)
    assert (told, len(work.begun)) == ([("heartbeat", type(fault).__name__)], 1)
    await clock.advance(PAUSE_S / 2)
    assert len(work.begun) == 2


async def test_what_returns_is_not_begun_again(background: Background, clock: ManualClock, told: Told) -> None:
    """Waiting for the store is done once."""
    work = Work()
    background.begin("opening", work.run)
    await clock.settle()
    work.begun[0].set_result(None)
    await clock.advance(10 * PAUSE_S)
    assert (told, len(work.begun)) == ([], 1)


async def test_the_end_is_waited_for_and_is_no_fault(background: Background, clock: ManualClock, told: Told) -> None:
    """While they work, and while they wait to begin again."""
    works, other = Work(), Work()
    background.begin("heartbeat", works.run)
    background.begin("sweeper", other.run)
    await clock.settle()
    other.begun[0].set_exception(ValueError("ours"))
    await clock.settle()
    await background.end()
    assert works.begun[0].cancelled()
    assert told == [("sweeper", "ValueError")]
    await clock.advance(10 * PAUSE_S)
    assert (len(works.begun), len(other.begun)) == (1, 1)


async def test_nothing_is_begun_after_the_end(background: Background, clock: ManualClock) -> None:
    """What waited for the store until then would begin the care of a store that is being closed."""
    slow, work, hold = Work(), Work(), asyncio.Event()

    async def ends_slowly() -> None:
        try:
            await slow.run()
        finally:
            await hold.wait()

    async def opens() -> None:
        await opened
        background.begin("sweeper", work.run)

    opened = asyncio.get_running_loop().create_future()
    background.begin("heartbeat", ends_slowly)
    background.begin("opening", opens)
    await clock.settle()
    # It has what it waited for in the moment in which it is cancelled.
    opened.set_result(None)
    ending = asyncio.create_task(background.end())
    await clock.settle()
    assert not ending.done()
    hold.set()
    await ending
    background.begin("sweeper", work.run)
    await clock.settle()
    assert work.begun == []


async def test_who_ends_it_can_be_cancelled(background: Background, clock: ManualClock) -> None:
    """A stop that is given up is not taken for the end of a task."""
    hold = asyncio.Event()

    async def ends_slowly() -> None:
        try:
            await hold.wait()
        finally:
            await hold.wait()

    background.begin("heartbeat", ends_slowly)
    await clock.settle()
    ending = asyncio.create_task(background.end())
    await clock.settle()
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    hold.set()
