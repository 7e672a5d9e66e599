"""Gateways and servers that a test may do to what it likes."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests import redis_servers
from tests.gateway.pipeline.rig import Rig, rigged
from tests.redis_servers import Server

MakeRig = Callable[..., Awaitable[Rig]]


@pytest.fixture(params=redis_servers.KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of server in turn."""
    redis_servers.need(request.param)
    return str(request.param)


@pytest.fixture
def server(kind: str) -> Iterator[Server]:
    """A server that keeps what it acknowledged, also when it is killed."""
    with redis_servers.own(kind, "--appendonly", "yes", "--appendfsync", "always") as started:
        yield started


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[MakeRig]:
    """Makes gateways on the stores of `opener(url)`; they are gone when the test ends."""
    async with contextlib.AsyncExitStack() as stack:
        yield lambda *manifests, **options: stack.enter_async_context(rigged(tmp_path, *manifests, **options))
