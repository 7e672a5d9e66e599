"""Checkpoints in memory pass the suite, as far as one process can."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.testing import CheckpointSubject
from agent_client.testing.checkpoint_logs import LOG_CHECKS
from agent_client.testing.checkpoint_races import RACE_CHECKS
from agent_client.testing.checkpoints import Check


@pytest.mark.parametrize("check", [*LOG_CHECKS, *RACE_CHECKS], ids=lambda check: check.__name__)
async def test_scenario_5_6_10_11_memory_is_a_checkpoint_store(check: Check) -> None:
    """Every promise that does not need a second process."""
    store = MemoryCheckpoints()

    @contextlib.asynccontextmanager
    async def opener() -> AsyncIterator[MemoryCheckpoints]:
        yield store

    await check(CheckpointSubject(opener=opener))
