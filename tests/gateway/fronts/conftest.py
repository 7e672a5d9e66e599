"""One served front a test."""

from collections.abc import AsyncIterator

import pytest

from tests.gateway.fronts.http.served import Served, serving


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """Both fronts with their default settings around a core that echoes."""
    async with serving() as running:
        yield running
