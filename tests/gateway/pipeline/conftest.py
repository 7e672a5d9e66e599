"""Gateways of these tests."""

import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests.gateway.pipeline.rig import Rig, rigged

MakeRig = Callable[..., Awaitable[Rig]]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[MakeRig]:
    """Makes gateways of the manifests it is given; they are gone when the test ends."""
    async with contextlib.AsyncExitStack() as stack:
        yield lambda *manifests, **options: stack.enter_async_context(rigged(tmp_path, *manifests, **options))


@pytest.fixture(autouse=True)
def _switch_interval() -> Iterator[None]:
    """Opening a store shortens it for the whole process."""
    interval = sys.getswitchinterval()
    yield
    sys.setswitchinterval(interval)
