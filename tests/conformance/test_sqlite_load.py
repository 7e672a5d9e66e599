"""Many at once, and a loop that has no time."""

import asyncio
import sys
import time
from pathlib import Path

import pytest
import uvloop

from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.stages.execute.operation.ports import Applied, Change
from gateway.stages.execute.operation.record import State
from gateway.stages.execute.operation.table import Event
from tests.conformance.moves import before, claimed, drive
from tests.waiting import turns

_PYTHONS_OWN_INTERVAL_S = 5e-3
# What the work on one call takes on the loop; it never gives the interpreter's lock up in between.
_CALL_S = 3e-4
_CALLS = 3_000
_ENOUGH_WRITES = 10
_STARVED_AFTER_CALLS = 250


async def test_those_who_come_together_share_a_commit(tmp_path: Path) -> None:
    """A hundred concurrent changes need a handful of COMMITs, and each is durable when its caller goes on."""
    store = SqliteOperationStore.open(tmp_path / "operations.db")
    reader = SqliteOperationStore.open(tmp_path / "operations.db")
    records = [claimed(f"n{n}", store.now()) for n in range(100)]
    earlier = store.commits

    async def commit_and_read(n: int) -> bool:
        """Whether another process sees what this one was told is durable."""
        assert await store.commit(Change(after=records[n])) == Applied()
        return await reader.by_key("acme", records[n].key) == records[n]

    seen = await asyncio.gather(*(commit_and_read(n) for n in range(100)))

    assert all(seen)
    assert 1 <= store.commits - earlier <= 5
    await store.close()
    await reader.close()


async def test_alone_is_a_commit_each(tmp_path: Path) -> None:
    """One caller's changes are durable one by one: nothing waits for company."""
    store = SqliteOperationStore.open(tmp_path / "operations.db")
    earlier = store.commits

    await drive(store, before("a", State.SENT, Event.DONE, store.now()))

    assert store.commits - earlier == 2
    await store.close()


@pytest.mark.slow
def test_a_busy_loop_does_not_starve_writes(tmp_path: Path) -> None:
    """With calls saturating the loop a write still ends soon. With Python's own switch interval most rounds of this
    end with the first write still waiting, so opening a store must shorten it.
    """
    sys.setswitchinterval(_PYTHONS_OWN_INTERVAL_S)

    async def measure() -> list[int]:
        """How many calls each write waited for, fewest first."""
        store = SqliteOperationStore.open(tmp_path / "operations.db")
        waited = await _writes_beside_calls(store)
        await store.close()
        return sorted(waited)

    def soon() -> bool:
        """A dozen calls on a free machine; a starved write waits for 500 and more."""
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            waited = runner.run(measure())
        return len(waited) > _ENOUGH_WRITES and waited[len(waited) // 2] < _STARVED_AFTER_CALLS

    # Other processes may starve it for a while, but not in every round.
    assert any(soon() for _ in range(10))
    assert sys.getswitchinterval() <= 1e-4


async def _writes_beside_calls(store: SqliteOperationStore) -> list[int]:
    """For how many calls, which keep the loop busy, each of the writes waited that one caller made meanwhile."""
    done = 0

    async def call() -> None:
        nonlocal done
        while done < _CALLS:
            # Of its own CPU: a machine that is busy elsewhere makes no call longer.
            until = time.thread_time() + _CALL_S
            while time.thread_time() < until:
                pass
            done += 1
            await turns()

    async def write() -> list[int]:
        waited: list[int] = []
        while (before_it := done) < _CALLS:
            record = claimed(f"n{len(waited)}", store.now())
            assert await store.commit(Change(after=record)) == Applied()
            waited.append(done - before_it)
        return waited

    writes = asyncio.create_task(write())
    await asyncio.gather(*(call() for _ in range(4)))
    return await writes
