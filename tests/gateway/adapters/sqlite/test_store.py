"""The store's own matters; what it shares with others is in the conformance suite."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from gateway.adapters.sqlite.host import Host
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.stages.execute.operation.ports import Applied, Change, OperationStore, RowFilter, StoreUnavailableError
from gateway.stages.execute.operation.record import State
from tests.clocks import ManualClock
from tests.conformance.moves import claimed, drive, history, row
from tests.waiting import eventually, turns


@pytest.fixture
async def store(path: Path, machine_host: Host) -> AsyncIterator[SqliteOperationStore]:
    """An empty store that waits a twentieth of a second for others."""
    made = SqliteOperationStore.open(path, host=machine_host, wait_s=0.05)
    yield made
    await made.close()


async def test_it_is_an_operation_store(store: SqliteOperationStore) -> None:
    """It says that it is durable, and shows its file and its commits."""
    port: OperationStore = store
    await store.check()

    assert port.durable
    assert repr(store) == f"<SqliteOperationStore {store._file.path} <Writer 1 commits, 0 waiting>>"


async def test_opening_shortens_the_switch_interval(path: Path, machine_host: Host) -> None:
    """And never lengthens one that somebody made shorter still."""
    for before, after in ((5e-3, 1e-4), (5e-5, 5e-5)):
        sys.setswitchinterval(before)
        await SqliteOperationStore.open(path, host=machine_host).close()

        assert sys.getswitchinterval() == pytest.approx(after, abs=2e-6)


async def test_it_opens_on_the_real_machine(path: Path) -> None:
    """Without a host given it asks the kernel; the clock is the boot's."""
    store = SqliteOperationStore.open(path)
    earlier = store.now()
    record = claimed("a", earlier)

    assert await store.commit(Change(after=record)) == Applied()
    assert earlier <= (await store.look("acme", (record.identity_key,))).now
    await store.close()


async def test_a_write_that_is_kept_out_is_refused(store: SqliteOperationStore, path: Path) -> None:
    """Whatever would write says StoreUnavailableError after `wait_s`; reads go on."""
    record = await drive(store, history("a", State.UNKNOWN, store.now()))
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    for write in (
        store.commit(Change(after=claimed("b", store.now()))),
        store.append_rows((row("r"),), strict=True),
        store.lease_due("t", 1.0, 1),
        store.lease_one("acme", record.key, "t", 1.0),
        store.release("acme", record.key, "t", 1.0),
        store.forget(retention_s=1.0),
        store.check(),
    ):
        with pytest.raises(StoreUnavailableError, match=r"for 0\.05 s"):
            await write
    assert await store.by_key("acme", record.key) == record
    other.execute("COMMIT")
    other.close()

    await store.check()


async def test_a_read_that_is_kept_out_is_refused(store: SqliteOperationStore, path: Path) -> None:
    """A file that somebody has locked whole cannot be read, and the store says so in time."""
    await store.close()
    locker = apsw.Connection(str(path))
    locker.execute("PRAGMA locking_mode = EXCLUSIVE")
    store._file.reading.close()
    locker.execute("BEGIN EXCLUSIVE")
    reading = apsw.Connection(str(path))
    object.__setattr__(store._file, "reading", reading)

    with pytest.raises(StoreUnavailableError, match=r"locked for 0\.05 s"):
        await store.by_key("acme", "key")
    locker.execute("COMMIT")
    locker.close()
    assert await store.by_key("acme", "key") is None
    reading.close()


async def test_a_broken_read_is_unavailable(store: SqliteOperationStore) -> None:
    """Whatever SQLite says, callers hear one word."""
    store._file.writing.execute("DROP TABLE rows")

    with pytest.raises(StoreUnavailableError, match="SQLError"):
        await store.list_rows(RowFilter(tenant="acme"))


def move_aside(path: Path, *, again: bool) -> None:
    """Take the file from under its path, perhaps with another in its place."""
    path.rename(path.with_name("aside"))
    if again:
        path.touch()


@pytest.mark.parametrize("again", [True, False])
async def test_a_replaced_file_is_noticed(store: SqliteOperationStore, path: Path, *, again: bool) -> None:
    """When the path leads to another file, or to none, the store is not ready: others would not see what it writes."""
    move_aside(path, again=again)

    with pytest.raises(
        StoreUnavailableError,
        match="another file" if again else "operations\\.db cannot be looked at: No such file or directory$",
    ):
        await store.check()


@pytest.mark.parametrize("again", [True, False])
async def test_nothing_is_written_into_a_file_that_nobody_finds_again(
    store: SqliteOperationStore, path: Path, *, again: bool
) -> None:
    """A claim or a SENT mark in a file that was replaced while it is open would be lost: it is refused."""
    move_aside(path, again=again)
    before = store.commits

    with pytest.raises(
        StoreUnavailableError,
        match="another file" if again else "operations\\.db cannot be looked at: No such file or directory$",
    ):
        await drive(store, history("a", State.SENT, store.now()))
    assert store.commits == before


async def test_rows_that_may_wait_are_durable_soon(store: SqliteOperationStore) -> None:
    """`append_rows` returns at once; reading finds the row within its 50 ms, give or take a busy machine."""
    commits = store.commits
    await store.append_rows((row("r1"),))
    assert store.commits == commits

    async def readable() -> bool:
        return bool(await store.list_rows(RowFilter(tenant="acme")))

    await eventually(readable)


async def test_strict_rows_are_durable_at_once(store: SqliteOperationStore) -> None:
    """`strict` returns after COMMIT."""
    await store.append_rows((row("r1"),), strict=True)

    assert await store.list_rows(RowFilter(tenant="acme")) == (row("r1"),)


async def test_closing_keeps_what_was_accepted(path: Path, machine_host: Host, clock: ManualClock) -> None:
    """Rows that waited and changes under way are there when the file is opened again."""
    store = SqliteOperationStore.open(path, host=machine_host)
    await store.append_rows((row("r1"),))
    change = asyncio.create_task(store.commit(Change(after=claimed("a", clock.monotonic()))))
    await turns()
    await store.close()
    assert await change == Applied()

    again = SqliteOperationStore.open(path, host=machine_host)
    assert await again.list_rows(RowFilter(tenant="acme")) == (row("r1"),)
    assert await again.by_key("acme", claimed("a", 0.0).key) is not None
    await again.close()


async def test_a_closed_store_is_unavailable(path: Path, machine_host: Host) -> None:
    """Nothing is accepted after `close`."""
    store = SqliteOperationStore.open(path, host=machine_host)
    await store.close()

    for question in (store.check(), store.by_key("acme", "key"), store.commit(Change(rows=(row("r"),)))):
        with pytest.raises(StoreUnavailableError):
            await question


async def test_without_retention_rows_stay(store: SqliteOperationStore, clock: ManualClock) -> None:
    """Execution rows are deleted only when a retention was given."""
    await store.append_rows((row("r1", at_wall=1.0),), strict=True)
    await clock.advance(1e9)
    await store.forget(retention_s=1.0)

    assert len(await store.list_rows(RowFilter(tenant="acme"))) == 1
