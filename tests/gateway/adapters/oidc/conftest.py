"""One issuer a test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.adapters.oidc.issuer import LocalIssuer, issuing


@pytest.fixture
async def issuer(tmp_path: Path) -> AsyncIterator[LocalIssuer]:
    """Running, with one key."""
    async with issuing(tmp_path) as running:
        yield running
