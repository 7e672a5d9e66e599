"""The other end of a request, over ASGI."""

import asyncio
from typing import Any

import pytest

from gateway.fronts.http.client import AsgiClient
from tests.waiting import turns


async def test_a_client_that_goes_away_cancels_the_task_that_watches_it() -> None:
    """A disconnect cancels whoever watches, and says why."""
    gone = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        raise AssertionError

    client = AsgiClient(receive, send)

    async def act() -> None:
        client.watch()
        gone.set()
        await asyncio.Event().wait()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.create_task(act()), 5)
    assert client.gone


async def test_who_does_not_watch_is_left_alone() -> None:
    """After `unwatch` a disconnect changes nothing."""
    gone = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        raise AssertionError

    client = AsgiClient(receive, send)
    client.watch()
    client.unwatch()
    gone.set()
    await turns(2)

    assert not client.gone
