"""Several processes on one store, and what is left when they are killed."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.stages.execute.operation.ports import OperationFilter, OperationStore, RowFilter
from gateway.stages.execute.operation.record import State
from tests import redis_servers
from tests.conformance.images import is_sound
from tests.conformance.worker import KEYS, opened

_ROOT = Path(__file__).resolve().parents[2]
_KILLS = 6
_ACKNOWLEDGED_BEFORE_KILL = 90


@pytest.fixture(params=["sqlite", *redis_servers.KINDS])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Each kind of store in turn: its path, or its address."""
    if request.param == "sqlite":
        yield str(tmp_path / "operations.db")
        return
    redis_servers.need(request.param)
    with redis_servers.own(request.param) as server:
        yield server.url


@pytest.mark.slow
async def test_two_processes_claim_the_same_keys(where: str) -> None:
    """Every key is won by exactly one of them, and the store says by which."""
    async with _worker("claim", where, "one") as one, _worker("claim", where, "other") as other:
        for process in (one, other):
            _start(process)
        won = [set((await process.communicate())[0].decode().split()) for process in (one, other)]

    store = opened(where)
    owners = {r.key: r.owner for r in await store.list_operations(OperationFilter(tenant="acme", limit=2 * KEYS))}
    await store.close()
    assert len(owners) == KEYS
    assert won[0] | won[1] == set(owners)
    assert not won[0] & won[1]
    assert {key for key, owner in owners.items() if owner == "one"} == won[0]


@pytest.mark.slow
async def test_killed_processes_lose_nothing_acknowledged(where: str) -> None:
    """Over many SIGKILLs, with another process writing on: each acknowledged change is there, each finish has its row."""
    acknowledged: dict[str, int] = {}
    async with _worker("churn", where, "survivor") as survivor:
        _start(survivor)
        for kill in range(_KILLS):
            async with _worker("churn", where, f"victim{kill}") as victim:
                _start(victim)
                await _collect(victim, acknowledged, at_least=_ACKNOWLEDGED_BEFORE_KILL)
                victim.send_signal(signal.SIGKILL)
                await _collect(victim, acknowledged)
        survivor.send_signal(signal.SIGKILL)
        await _collect(survivor, acknowledged)

    store = opened(where)
    assert sum(acknowledged.values()) > _KILLS * _ACKNOWLEDGED_BEFORE_KILL
    await _holds(store, acknowledged)
    assert where.startswith("redis://") or is_sound(Path(where))


@pytest.mark.slow
@pytest.mark.parametrize("kind", redis_servers.KINDS)
async def test_a_killed_server_loses_nothing_acknowledged(kind: str) -> None:
    """With `appendfsync always`, after a SIGKILL of the server in the middle of it: the same."""
    redis_servers.need(kind)
    acknowledged: dict[str, int] = {}
    with redis_servers.own(kind, "--appendonly", "yes", "--appendfsync", "always") as server:
        async with _worker("churn", server.url, "only") as worker:
            _start(worker)
            await _collect(worker, acknowledged, at_least=_ACKNOWLEDGED_BEFORE_KILL)
            server.kill()
            await _collect(worker, acknowledged)
        with redis_servers.restarted(kind, server):
            await _holds(opened(server.url), acknowledged)


async def _holds(store: OperationStore, acknowledged: dict[str, int]) -> None:
    """Each acknowledged version is there, and each finish has its row."""
    kept = {r.key: r for r in await store.list_operations(OperationFilter(tenant="acme", limit=1_000_000))}
    rows = [r.row_id for r in await store.list_rows(RowFilter(tenant="acme", limit=1_000_000))]
    await store.close()
    assert [key for key, version in acknowledged.items() if key not in kept or kept[key].version < version] == []
    assert sorted(rows) == sorted(f"row-{key}" for key, r in kept.items() if r.state is State.DONE)


@contextlib.asynccontextmanager
async def _worker(mode: str, where: str, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.conformance.worker",
        mode,
        where,
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
