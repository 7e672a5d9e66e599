"""A served front for the client commands."""

from collections.abc import AsyncIterator

import pytest

from tests.gateway.fronts.http.served import Served, serving


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """The real front around a core that echoes."""
    async with serving() as running:
        yield running
