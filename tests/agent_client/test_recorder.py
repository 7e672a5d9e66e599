"""A worker's hold on the log: commits whole, notes and versions, snapshots that stay a share of the log."""

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.codec import headline_of, state_of, write_event
from agent_client.events import Finished, StepBegan
from agent_client.journal import Commit, StaleVersion
from agent_client.recorder import Recorder
from agent_client.status import Reason
from tests.agent_client.states import ADMITTED, decided, fresh, noted
from tests.clocks import ManualClock


async def held(clock: ManualClock | None = None, max_steps: int = 8) -> tuple[Recorder, MemoryCheckpoints]:
    """A fresh task in memory, and a hold on it."""
    store = MemoryCheckpoints()
    admitted = ADMITTED.model_copy(update={"limits": ADMITTED.limits.model_copy(update={"max_steps": max_steps})})
    commit = Commit(version=0, at_wall=0.0, entries=(write_event(admitted),), headline=headline_of(fresh()))
    return Recorder(await store.create("task-1", commit), store, clock or ManualClock()), store


async def test_L55_what_was_added_is_durable_as_a_whole_with_the_next_commit() -> None:
    """Before it nothing is there; after it the store gives the same state as the worker has."""
    recorder, store = await held()
    recorder.add(StepBegan(step=1), decided(1, "a"))
    log = await store.load("task-1")
    assert log is not None
    assert state_of(log).step_count == 0
    assert recorder.dirty

    await recorder.checkpoint(noted(1, "call_1_1", "unknown_tool"))

    log = await store.load("task-1")
    assert log is not None
    assert state_of(log) == recorder.state
    assert (recorder.state.version, recorder.dirty) == (1, False)


async def test_L17_a_note_is_durable_without_a_version() -> None:
    """It moves the log, and so stops another worker, but it is no checkpoint."""
    recorder, store = await held()

    await recorder.note(StepBegan(step=1))

    log = await store.load("task-1")
    assert log is not None
    assert (state_of(log).version, state_of(log).step_count) == (0, 1)


async def test_L61_the_loser_of_two_holds_cannot_write_any_more() -> None:
    """Not even a note; nothing of what it tried is there."""
    first, store = await held()
    log = await store.load("task-1")
    assert log is not None
    second = Recorder(log, store, ManualClock())
    await second.note(StepBegan(step=1))

    with pytest.raises(StaleVersion):
        await first.checkpoint(StepBegan(step=1), decided(1, "a"))

    log = await store.load("task-1")
    assert log is not None
    assert state_of(log) == second.state


async def test_T06_L40_active_time_is_measured_while_a_worker_holds_the_task() -> None:
    """Each commit carries it; a later hold goes on counting from there."""
    clock = ManualClock()
    recorder, store = await held(clock)
    await clock.advance(30)
    await recorder.note(StepBegan(step=1))
    await clock.advance(1_000)

    log = await store.load("task-1")
    assert log is not None
    later = Recorder(log, store, clock)
    await clock.advance(5)

    assert later.state.usage.active_s == 30.0
    assert (later.active_s, later.remaining_s) == (35.0, later.state.limits.active_seconds - 35.0)


async def test_the_cost_of_a_step_stays_flat_over_two_hundred() -> None:
    """What is written for the last ten steps is no more than half again of what the first ten cost, snapshots apart."""
    recorder, store = await held(max_steps=300)
    sizes: list[int] = []
    snapshots = 0
    for step in range(1, 201):
        before = {e.position for e in await store.events("task-1")}
        await recorder.checkpoint(StepBegan(step=step), decided(step, "a", text="x" * 400), noted(step, None, "said"))
        fresh_entries = [e for e in await store.events("task-1") if e.position not in before]
        sizes.append(sum(len(e.body) for e in fresh_entries))
        log = await store.load("task-1")
        assert log is not None
        snapshots += log.snapshot is not None and log.snapshot.position == log.position

    assert sum(sizes[-10:]) < 1.5 * sum(sizes[:10])
    assert 1 <= snapshots <= 10


async def test_an_end_is_snapshotted_so_that_it_is_read_at_once() -> None:
    """Whoever looks at a finished task reads one row."""
    recorder, store = await held()

    await recorder.checkpoint(Finished(reason=Reason.STEPS, detail="all used"))

    log = await store.load("task-1")
    assert log is not None
    assert log.snapshot is not None
    assert (log.entries, log.headline.finished) == ((), True)
