"""The checks that kill bite on a store that acknowledges before it has written."""

from pathlib import Path

import pytest

from agent_client.testing import CheckpointSubject
from agent_client.testing.checkpoint_kills import KILL_CHECKS, an_acknowledged_task_survives
from tests.agent_client.testing.forgetful import FORGETFUL


async def test_a_store_that_acknowledges_early_is_caught(tmp_path: Path) -> None:
    """The killed worker's task is not there."""
    with pytest.raises(AssertionError, match="acknowledged is there"):
        await an_acknowledged_task_survives(CheckpointSubject(shared=FORGETFUL, arguments=(str(tmp_path),)))


async def test_they_ask_for_a_store_that_processes_share() -> None:
    """Otherwise nothing can be killed."""
    for check in KILL_CHECKS[:1]:
        with pytest.raises(ValueError, match="processes share"):
            await check(CheckpointSubject())
