"""An issuer, and the kinds of stores that tenants share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import redis_servers
from tests.gateway.adapters.oidc.issuer import LocalIssuer, issuing


@pytest.fixture
async def issuer(tmp_path: Path) -> AsyncIterator[LocalIssuer]:
    """Running, with one key."""
    async with issuing(tmp_path) as running:
        yield running


@pytest.fixture(params=["sqlite", *redis_servers.KINDS])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'records.db'}"
    redis_servers.need(request.param)
    server = redis_servers.shared(request.param)
    server.client.flushall()
    return server.url
