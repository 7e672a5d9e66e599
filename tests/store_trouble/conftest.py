"""Gateways and servers that a test may do to what it likes."""

from collections.abc import Iterator

import pytest

from tests import redis_servers
from tests.gateway.pipeline.conftest import MakeRig, rig
from tests.redis_servers import Server

__all__ = ["MakeRig", "rig"]


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
