"""What goes on when whoever asked for it goes away."""

import asyncio

import pytest

from gateway.pipeline.detached import Detached
from tests.waiting import turns


async def after(event: asyncio.Event, fault: Exception | None = None) -> str:
    """Work that lasts until the test says so."""
    await event.wait()
    if fault is not None:
        raise fault
    return "done"


async def test_who_waits_is_told() -> None:
    """What the work returned, or what it raised."""
    detached, now = Detached(), asyncio.Event()
    now.set()

    assert await detached.told(after(now)) == "done"
    with pytest.raises(ValueError, match="ours"):
        await detached.told(after(now, ValueError("ours")))
    await detached.ended()
    assert len(detached) == 0


async def test_work_goes_on_without_who_waited() -> None:
    """Cancelling ends the wait only."""
    detached, event, seen = Detached(), asyncio.Event(), list[str]()

    async def work() -> None:
        seen.append(await after(event))

    waits = asyncio.create_task(detached.told(work()))
    await turns()
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits

    assert len(detached) == 1
    event.set()
    await detached.ended()
    assert seen == ["done"]


async def test_a_fault_that_nobody_waits_for_is_the_loops_to_tell() -> None:
    """It is not swallowed."""
    detached, event, told = Detached(), asyncio.Event(), list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context["exception"])))
    waits = asyncio.create_task(detached.told(after(event, ValueError("ours"))))
    await turns()
    waits.cancel()
    await asyncio.gather(waits, return_exceptions=True)
    event.set()
    await detached.ended()

    assert told == ["ours"]


async def test_waiting_for_the_end_may_be_bounded() -> None:
    """Within a time for those that are under way, without one for all."""
    detached, event = Detached(), asyncio.Event()
    detached.spawn(after(event))
    await detached.ended(0.0)
    assert len(detached) == 1

    async def begins_another() -> None:
        detached.spawn(after(event))
        event.set()

    detached.spawn(begins_another())
    await detached.ended()
    assert len(detached) == 0
