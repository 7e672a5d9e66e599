"""The benchmark of a loop step measures what it says; and what a step writes does not grow with the run."""

import pytest

from agent_client import MemoryCheckpoints, Reason
from agent_client.journal import Commit
from agent_client.wire import CallRequest
from bench.micro_loop import BAND, STEPS, Tools, run


class Weighed(MemoryCheckpoints):
    """Checkpoints that note how many characters each commit has."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[int] = []
        self.log = 0

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        """As it was, weighed."""
        entries = sum(len(entry.body) for entry in commit.entries)
        self.log += entries
        self.commits.append(entries + len(commit.snapshot or ""))
        return await super().append(task_id, after=after, commit=commit)


async def test_every_step_of_the_run_is_measured() -> None:
    """The task ends by its steps, not by any other limit, and each band has as many as it says."""
    state, watch = await run(MemoryCheckpoints(), steps=2 * BAND)

    assert (state.reason, state.step_count) == (Reason.STEPS, 2 * BAND + 1)
    assert len(watch.bands_ms()) == 2


async def test_the_checkpoints_of_a_long_run_cost_a_constant_a_step() -> None:
    """200 steps: the log grows evenly, and all snapshots together are no more than a few times the log."""
    store = Weighed()
    await run(store, steps=STEPS)

    quarter = len(store.commits) // 4
    first, last = (sorted(part)[len(part) // 2] for part in (store.commits[:quarter], store.commits[-quarter:]))
    assert last <= first * 1.1
    assert sum(store.commits) <= 4 * store.log


async def test_a_run_that_would_write_is_no_measurement_of_reads() -> None:
    """The gateway of the benchmark answers reads; anything else ends it with a sentence."""
    tools = Tools()
    request = CallRequest(tool="issue_refund", arguments={}, request_id="r", run_id="t", step=1)

    for asked in (tools.prepare(request), tools.operation(key="k"), tools.reconcile("op-1"), tools.approval("apr-1")):
        with pytest.raises(AssertionError, match="nothing is written in this benchmark"):
            await asked
