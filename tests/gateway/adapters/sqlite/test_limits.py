"""The file of limits: two processes' views of it, and what becomes of it in bad times."""

import asyncio
import logging
import stat
import sys
from pathlib import Path

import apsw
import pytest

from gateway.adapters.sqlite import limits as module
from gateway.adapters.sqlite.limits import SqliteLimits
from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.rate import Buckets, Quota
from gateway.stages.execute.breaker.spending import KEPT_S, Purse
from tests.clocks import ManualClock
from tests.conformance.stores import host

MINE = Quota(name="n", partition="acme", key="a", rate=Rate(count=1, per_s=60.0))
RUN = Purse(tenant="acme", run_id="run-1", unit="refund")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is to be."""
    return tmp_path / "records.db-limits"


def mode(path: Path) -> int | None:
    """Who may do what with the file; None: there is none."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else None


def spoil(path: Path) -> None:
    """Write what no database is."""
    path.write_bytes(b"this is no database, and never was" * 100)


async def test_the_file_is_made_when_a_limit_is_met(path: Path) -> None:
    """Readable by its owner only; a process that starts later finds what was counted."""
    clock = ManualClock()
    first = SqliteLimits(path, host(clock))
    assert mode(path) is None
    await first.take([MINE])
    await first.reserve(RUN, "a", 5, 5)
    first.close()
    second = SqliteLimits(path, host(clock))

    assert mode(path) == 0o600
    assert (await second.take([MINE])).refused == 0
    assert await second.reserve(RUN, "b", 1, 5) == 5.0
    second.close()


async def test_another_boot_begins_with_full_buckets(path: Path) -> None:
    """Its clock began anew; what a run has spent stays."""
    clock = ManualClock()
    before = SqliteLimits(path, host(clock))
    await before.take([MINE])
    await before.reserve(RUN, "a", 5, 5)
    before.close()
    after = SqliteLimits(path, host(clock, boot_id="boot-2"))

    assert (await after.take([MINE])).refused is None
    assert await after.reserve(RUN, "b", 1, 5) == 5.0
    after.close()


@pytest.mark.parametrize(("count", "per_s"), [(1, 60.0), (3, 1.0), (7, 0.9)])
async def test_one_statement_counts_as_the_rule_does(path: Path, count: int, per_s: float) -> None:
    """What is left, what is refused and how long to wait: the same as in memory, whatever the pauses."""
    clock, buckets = ManualClock(), Buckets()
    quota = Quota(name="n", partition="acme", key="a", rate=Rate(count=count, per_s=per_s))
    counted = SqliteLimits(path, host(clock))
    for step in range(60):
        await clock.advance(per_s / count * (0.0, 0.3, 0.9, 2.5)[step * step % 4])
        mine, rule = await counted.take([quota]), buckets.take([quota], now=clock.monotonic())
        assert mine.refused == rule.refused
        assert [*mine.tokens, mine.wait_s] == pytest.approx([*rule.tokens, rule.wait_s])
    counted.close()


@pytest.mark.parametrize("others", [(), (Quota(name="n", partition="acme", key="b", rate=Rate(count=99, per_s=60.0)),)])
async def test_who_read_the_clock_before_another_gets_no_time_twice(path: Path, others: tuple[Quota, ...]) -> None:
    """It waited for the file while another took: the bucket is not refilled again for the time in between."""
    clock, early = ManualClock(), ManualClock()
    bucket = Quota(name="n", partition="acme", key="a", rate=Rate(count=2, per_s=20.0))
    first, late = SqliteLimits(path, host(clock)), SqliteLimits(path, host(early))
    await first.take([bucket, *others])
    await clock.advance(10.0)
    await first.take([bucket, *others])
    assert (await late.take([bucket, *others])).refused is None

    assert (await first.take([bucket, *others])).wait_s == pytest.approx(10.0)
    first.close()
    late.close()


async def test_a_broken_file_is_made_anew(path: Path) -> None:
    """Counters are no reason not to serve."""
    spoil(path)
    broken = SqliteLimits(path, host(ManualClock()))

    assert [(await broken.take([MINE])).refused for _ in range(2)] == [None, 0]
    broken.close()


async def test_without_a_file_the_process_counts_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log says so once."""
    alone = SqliteLimits(tmp_path / "missing" / "limits", host(ManualClock()))
    with caplog.at_level(logging.ERROR, logger="oncegate"):
        taken = [(await alone.take([MINE])).refused for _ in range(2)]
        spent = [await alone.reserve(RUN, call, 3, 5) for call in "ab"]
        await alone.release(RUN, "a")

    assert (taken, spent) == ([None, 0], [None, 3.0])
    assert len(caplog.records) == 1


async def test_a_file_that_another_keeps_locked_is_not_waited_for_long(path: Path) -> None:
    """After `wait_s` the process counts alone; later together again."""
    mine = SqliteLimits(path, host(ManualClock()), wait_s=0.02)
    await mine.take([MINE])
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")

    assert (await mine.take([MINE])).refused is None
    other.execute("ROLLBACK")
    assert (await mine.take([MINE])).refused == 0
    other.close()
    mine.close()


async def test_what_is_over_is_swept(path: Path) -> None:
    """Buckets that are full again, and runs that spent nothing for a month; what is in use stays."""
    clock = ManualClock()
    counted = SqliteLimits(path, host(clock))
    await counted.take([MINE])
    await counted.reserve(RUN, "a", 1, 5)
    await clock.advance(KEPT_S + 1)
    lasting = Quota(name="n", partition="acme", key="b", rate=Rate(count=1, per_s=86400.0))
    await counted.take([lasting])
    counted._until_sweep = 1
    await counted.reserve(Purse(tenant="acme", run_id="run-2", unit="refund"), "a", 1, 5)
    reader = apsw.Connection(str(path))

    assert reader.execute("SELECT key FROM buckets").fetchall() == [("b",)]
    assert reader.execute("SELECT run FROM spent").fetchall() == [("run-2",)]
    assert counted._until_sweep == module._SWEEP_EVERY
    reader.close()
    counted.close()


async def test_processes_count_together(path: Path) -> None:
    """Three at once, each of which would take thirty: fifty there are, and as much as there is to spend."""
    script = f"""
import asyncio, sys
from pathlib import Path
from gateway.adapters.sqlite.host import this_host
from gateway.adapters.sqlite.limits import SqliteLimits
from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.rate import Quota
from gateway.stages.execute.breaker.spending import Purse

async def main(name):
    counted = SqliteLimits(Path({str(path)!r}), this_host(), wait_s=60.0)
    quota = Quota(name="n", partition="acme", key="k", rate=Rate(count=50, per_s=86_400_000.0))
    run = Purse(tenant="acme", run_id="r", unit="u")
    taken = [(await counted.take([quota])).refused is None for _ in range(30)]
    spent = [await counted.reserve(run, f"{{name}}-{{at}}", 1, 50) is None for at in range(30)]
    print(sum(taken), sum(spent))

asyncio.run(main(sys.argv[1]))
"""
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", script, name, stdout=asyncio.subprocess.PIPE)
        for name in "abc"
    ]
    printed = [(await process.communicate())[0].split() for process in processes]

    assert [sum(int(words[at]) for words in printed) for at in range(2)] == [50, 50]
