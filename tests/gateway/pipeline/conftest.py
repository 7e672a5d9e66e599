"""Gateways of these tests."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.gateway.pipeline.rig import Rig, rigged

MakeRig = Callable[..., Awaitable[Rig]]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[MakeRig]:
    """Makes gateways of the manifests it is given; they are gone when the test ends."""
    async with contextlib.AsyncExitStack() as stack:
        yield lambda *manifests, **options: stack.enter_async_context(rigged(tmp_path, *manifests, **options))
