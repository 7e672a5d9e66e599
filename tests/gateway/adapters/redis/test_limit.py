"""A time limit."""

import asyncio
import time

import pytest

from gateway.adapters.redis.limit import Limit
from tests.waiting import PATIENCE_S, turns


async def test_what_is_in_time_ends_as_it_does() -> None:
    """Its result, or its own error."""
    async with Limit(5.0):
        await turns()
    with pytest.raises(KeyError):
        async with Limit(5.0):
            raise KeyError


async def test_what_takes_longer_is_ended() -> None:
    """By TimeoutError; the task goes on."""
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with Limit(0.01):
            await asyncio.Event().wait()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert time.monotonic() - began < PATIENCE_S


async def test_a_cancellation_from_outside_stays_one() -> None:
    """It is not taken for the end of the time."""

    async def waits() -> None:
        async with Limit(5.0):
            await asyncio.Event().wait()

    task = asyncio.create_task(waits())
    await turns()
    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()


async def test_an_answer_that_waited_for_the_loop_counts() -> None:
    """The loop was busy past the end of the time; what had come meanwhile is heard. It is given once."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(time.sleep, 0.2)
    asyncio.get_running_loop().call_later(0.05, answer.set_result, "here")
    async with Limit(0.05):
        assert await answer == "here"

    asyncio.get_running_loop().call_soon(time.sleep, 0.2)
    with pytest.raises(TimeoutError):
        async with Limit(0.05):
            await asyncio.Event().wait()
