"""Several processes on one file, and what is left when they are killed."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.stages.execute.operation.ports import OperationFilter, RowFilter
from gateway.stages.execute.operation.record import State
from tests.conformance.images import is_sound
from tests.conformance.worker import KEYS

_ROOT = Path(__file__).resolve().parents[2]
_KILLS = 6
_ACKNOWLEDGED_BEFORE_KILL = 90


@pytest.mark.slow
async def test_two_processes_claim_the_same_keys(tmp_path: Path) -> None:
    """Every key is won by exactly one of them, and the file says by which."""
    path = tmp_path / "operations.db"
    async with _worker("claim", path, "one") as one, _worker("claim", path, "other") as other:
        for process in (one, other):
            _start(process)
        won = [set((await process.communicate())[0].decode().split()) for process in (one, other)]

    store = SqliteOperationStore.open(path)
    owners = {r.key: r.owner for r in await store.list_operations(OperationFilter(tenant="acme", limit=2 * KEYS))}
    await store.close()
    assert len(owners) == KEYS
    assert won[0] | won[1] == set(owners)
    assert not won[0] & won[1]
    assert {key for key, owner in owners.items() if owner == "one"} == won[0]


@pytest.mark.slow
async def test_killed_processes_lose_nothing_acknowledged(tmp_path: Path) -> None:
    """Over many SIGKILLs, with another process writing on: each acknowledged change is there, each finish has its row."""
    path = tmp_path / "operations.db"
    acknowledged: dict[str, int] = {}
    async with _worker("churn", path, "survivor") as survivor:
        _start(survivor)
        for kill in range(_KILLS):
            async with _worker("churn", path, f"victim{kill}") as victim:
                _start(victim)
                await _collect(victim, acknowledged, at_least=_ACKNOWLEDGED_BEFORE_KILL)
                victim.send_signal(signal.SIGKILL)
                await _collect(victim, acknowledged)
        survivor.send_signal(signal.SIGKILL)
        await _collect(survivor, acknowledged)

    store = SqliteOperationStore.open(path)
    kept = {r.key: r for r in await store.list_operations(OperationFilter(tenant="acme", limit=1_000_000))}
    rows = [r.row_id for r in await store.list_rows(RowFilter(tenant="acme", limit=1_000_000))]
    await store.close()
    assert sum(acknowledged.values()) > _KILLS * _ACKNOWLEDGED_BEFORE_KILL
    assert [key for key, version in acknowledged.items() if key not in kept or kept[key].version < version] == []
    assert sorted(rows) == sorted(f"row-{key}" for key, r in kept.items() if r.state is State.DONE)
    assert is_sound(path)


@contextlib.asynccontextmanager
async def _worker(mode: str, path: Path, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.conformance.worker",
        mode,
        str(path),
        name,
        cwd=_ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # Also reads what is left in the pipe, so that its end can be closed.
        await process.communicate()


def _start(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"go\n")


async def _collect(
    process: asyncio.subprocess.Process, acknowledged: dict[str, int], *, at_least: int | None = None
) -> None:
    """Read acknowledgements: `at_least` so many, or all that a dead process has left."""
    assert process.stdout is not None
    read = 0
    while at_least is None or read < at_least:
        line = await process.stdout.readline()
        if not line.endswith(b"\n"):
            assert at_least is None, "the process ended by itself"
            return
        key, version = line.decode().split()
        acknowledged[key] = max(acknowledged.get(key, 0), int(version))
        read += 1
