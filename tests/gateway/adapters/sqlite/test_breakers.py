"""Breakers that processes on one file share. What every store of them does is in `tests/conformance/test_breaker_stores.py`."""

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from gateway.adapters.sqlite.breakers import FRESH_S, SqliteBreakers
from gateway.stages.execute.breaker.breaker import Breaker, State
from gateway.stages.execute.breaker.ports import BreakerStoreAway, Standing
from tests.clocks import ManualClock
from tests.conformance.stores import host

OPEN = Breaker(state=State.OPEN, generation=1, since=1.5, open_until=9.5, failures=3, of=4, mark="m")


@pytest.fixture
def clock() -> ManualClock:
    """The machine's clocks."""
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file will be."""
    return tmp_path / "store.db-breakers"


async def test_what_was_read_is_gone_by_for_half_a_second(path: Path, clock: ManualClock) -> None:
    """A healthy call reads nothing; then what another process wrote is seen."""
    one, other = (SqliteBreakers(path, host(clock)) for _ in range(2))
    assert one.peek("payments") is None
    assert await one.load("payments") == Standing()
    statements = counted(one)
    await other.swap("payments", 0, OPEN)
    await other.throttle("payments", 7.0)
    await clock.advance(FRESH_S * 0.9)
    assert one.peek("payments") == Standing()
    assert statements() == 0

    await clock.advance(FRESH_S * 0.2)
    assert one.peek("payments") is None
    assert await one.load("payments") == Standing(breaker=OPEN, throttled_until=7.0)
    assert statements() == 1
    one.close()
    other.close()


async def test_what_it_wrote_itself_it_knows(path: Path, clock: ManualClock) -> None:
    """A swap and a throttle are seen at once by whoever made them."""
    one = SqliteBreakers(path, host(clock))
    await one.swap("payments", 0, OPEN)
    await one.throttle("payments", 7.0)

    assert one.peek("payments") == Standing(breaker=OPEN, throttled_until=7.0)
    one.close()


async def test_an_earlier_boot_is_nobodys(path: Path, clock: ManualClock) -> None:
    """Its times are of another clock: the breaker is closed, and is written anew."""
    before = SqliteBreakers(path, host(clock))
    await before.swap("payments", 0, OPEN)
    before.close()
    after = SqliteBreakers(path, host(clock, boot_id="boot-2"))

    assert await after.load("payments") == Standing()
    assert await after.swap("payments", 0, OPEN) == OPEN
    after.close()


async def test_another_process_sees_it(path: Path, clock: ManualClock) -> None:
    """One that wrote and was killed has left what it wrote."""
    program = (
        "import asyncio, os, signal, sys; from pathlib import Path;"
        "from gateway.adapters.sqlite.breakers import SqliteBreakers;"
        "from tests.gateway.adapters.sqlite.test_breakers import OPEN, ManualClock, host;"
        "asyncio.run(SqliteBreakers(Path(sys.argv[1]), host(ManualClock())).swap('payments', 0, OPEN));"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(path)], check=False)  # noqa: ASYNC221 - nothing else runs
    here = SqliteBreakers(path, host(clock))

    assert ended.returncode == -9
    assert await here.load("payments") == Standing(breaker=OPEN)
    here.close()


async def test_a_file_that_another_keeps_is_away_for_a_while(path: Path, clock: ManualClock) -> None:
    """A writer waits a little and then goes on alone; the next ones do not wait at all; reading needs no lock."""
    one = SqliteBreakers(path, host(clock), wait_s=0.05)
    await one.load("payments")
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    assert await one.load("payments") == Standing()
    for _ in range(2):
        with pytest.raises(BreakerStoreAway):
            await one.swap("payments", 0, OPEN)
    other.execute("ROLLBACK")
    other.close()
    one.close()


async def test_a_file_that_cannot_be_is_said_once(
    path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """The process goes on with breakers of its own."""
    path.mkdir()  # noqa: ASYNC240 - nothing else runs
    one = SqliteBreakers(path, host(clock))
    with caplog.at_level(logging.ERROR):
        for _ in range(2):
            with pytest.raises(BreakerStoreAway):
                await one.load("payments")

    assert [it.message.split(":")[0] for it in caplog.records] == ["breakers are kept by this process alone"]


def counted(breakers: SqliteBreakers) -> Callable[[], int]:
    """How many statements its connection has run since."""
    connection = breakers._connection
    assert connection is not None
    ran: list[str] = []

    def trace(_: object, sql: str, __: object) -> bool:
        ran.append(sql)
        return True

    connection.set_exec_trace(trace)
    return lambda: len(ran)
