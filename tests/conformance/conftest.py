"""One fixture, every store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.stages.execute.operation.ports import OperationStore
from tests import redis_servers
from tests.clocks import ManualClock
from tests.conformance.counted import Counted
from tests.conformance.stores import STORES, Harness


@pytest.fixture
def clock() -> ManualClock:
    """The store's clocks."""
    return ManualClock(monotonic=1_790_000_000.0)


@pytest.fixture(params=list(STORES))
async def harness(request: pytest.FixtureRequest, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Harness]:
    """Each kind of store in turn."""
    made = STORES[request.param](clock, tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def store(harness: Harness) -> OperationStore:
    """An empty store."""
    return await harness.open()


@pytest.fixture(params=["memory", "sqlite", *redis_servers.KINDS])
async def counted(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Counted]:
    """Each kind of store for rates and budgets in turn, with two gateways on it."""
    made = Counted(request.param, tmp_path)
    yield made
    made.close()
