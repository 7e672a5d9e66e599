"""The checks on races bite on a store whose check and write are two steps."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.journal import Commit, Log, StaleVersion
from agent_client.testing import CheckpointSubject
from agent_client.testing.checkpoint_races import one_of_many_appends_wins, one_of_many_creates_admits
from agent_client.testing.checkpoints import Check
from tests.waiting import turns


class TwoSteps(MemoryCheckpoints):
    """Looks, lets the others look, and writes."""

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        log = await self.load(task_id)
        if log is None or log.position != after:
            raise StaleVersion(task_id, expected=after)
        await turns()
        now = await self.load(task_id)
        assert now is not None
        return await super().append(task_id, after=now.position, commit=commit)

    async def create(self, task_id: str, first: Commit) -> Log:
        found = await self.load(task_id)
        await turns()
        if found is None:
            self._tasks.pop(task_id, None)
        return await super().create(task_id, first)


@pytest.mark.parametrize("check", [one_of_many_appends_wins, one_of_many_creates_admits])
async def test_a_check_and_a_write_in_two_steps_are_caught(check: Check) -> None:
    """Both workers passed the check before either wrote."""
    store = TwoSteps()

    @contextlib.asynccontextmanager
    async def opener() -> AsyncIterator[MemoryCheckpoints]:
        yield store

    with pytest.raises(AssertionError):
        await check(CheckpointSubject(opener=opener))
