"""Worlds of these tests."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.agent_client.world import World, open_world

MakeWorld = Callable[..., Awaitable[World]]


@pytest.fixture
async def make_world(tmp_path: Path) -> AsyncIterator[MakeWorld]:
    """Opens worlds; they are gone when the test ends."""
    async with contextlib.AsyncExitStack() as stack:
        yield lambda *changes, **options: stack.enter_async_context(open_world(tmp_path, *changes, **options))


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    """The example tools as they are."""
    return await make_world()
