"""The one poll of the tests asks until it is told yes, and no longer than it should."""

import asyncio

import pytest

from tests import waiting
from tests.waiting import eventually, turns


async def test_it_asks_until_the_answer_is_yes() -> None:
    """A condition may be a question or a coroutine of one; it is not asked again once it holds."""
    plain, waited = iter([False, False, True]), iter([False, True])

    async def holds() -> bool:
        return next(waited)

    await eventually(lambda: next(plain))
    await eventually(holds)

    assert [list(plain), list(waited)] == [[], []]


async def test_what_never_holds_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that waits in vain ends."""
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.01)

    with pytest.raises(TimeoutError):
        await eventually(lambda: False)


async def test_a_turn_lets_what_is_ready_run() -> None:
    """A task that was made has begun after one."""
    begun = asyncio.Event()

    async def begin() -> None:
        begun.set()

    task = asyncio.create_task(begin())
    await turns()

    assert begun.is_set()
    await task
