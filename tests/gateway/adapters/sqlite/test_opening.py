"""What is refused before the first record is trusted to a file."""

import stat
import time
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from gateway.adapters.sqlite import adoption, opening
from gateway.adapters.sqlite.adoption import StoreRefusedError
from gateway.adapters.sqlite.host import NETWORK_FILESYSTEMS, Host
from gateway.adapters.sqlite.opening import OpenFile
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.record import State
from tests.clocks import ManualClock
from tests.conformance.moves import drive, history
from tests.conformance.stores import host


def close(opened: OpenFile) -> None:
    """Close all of it."""
    opened.reading.close()
    opened.writing.close()
    opened.witness.close()


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.50.9", "2.99.99"])
def test_an_old_sqlite_is_refused(version: str) -> None:
    """It can lose acknowledged commits when two processes share a file."""
    with pytest.raises(StoreRefusedError, match=rf"{version}.*3\.51\.3 is needed"):
        opening.require_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.52.0", "3.100.1", "4.0.0", apsw.sqlite_lib_version()])
def test_a_newer_sqlite_is_taken(version: str) -> None:
    """Numbers are compared, not texts; the one we bring is among them."""
    opening.require_sqlite(version)


def test_an_old_sqlite_stops_the_opening(path: Path, machine_host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's own version is what is tested, before a file is made."""
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")

    with pytest.raises(StoreRefusedError, match=r"3\.40\.1"):
        opening.open_file(path, machine_host, Sealer())
    assert not path.exists()


@pytest.mark.parametrize("kind", NETWORK_FILESYSTEMS)
def test_a_network_filesystem_is_refused(path: Path, machine_host: Host, kind: int) -> None:
    """Locks and shared memory may not hold there; the error names the kind."""
    there = replace(machine_host, filesystem_type=lambda _: kind)

    with pytest.raises(StoreRefusedError, match=NETWORK_FILESYSTEMS[kind]):
        opening.open_file(path, there, Sealer())


def test_only_its_owner_may_read_the_file(file: OpenFile) -> None:
    """The file, its log and its shared memory have mode 0600 whatever the umask."""
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in file.path.parent.iterdir()}

    assert modes == dict.fromkeys(
        ["operations.db", "operations.db-wal", "operations.db-shm", "operations.db-witness"], 0o600
    )


def test_a_statement_is_parsed_once(file: OpenFile) -> None:
    """Neither connection plans a statement by the values bound to it, and so anew for each of them."""
    planned = [it.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) for it in (file.writing, file.reading)]

    assert planned == [1, 1]


def test_a_commit_is_forced_to_the_disk(file: OpenFile) -> None:
    """WAL, synchronous=FULL, and no waiting inside SQLite on either connection."""
    for connection in (file.writing, file.reading):
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        assert connection.execute("PRAGMA busy_timeout").fetchall() == [(0,)]
    assert file.writing.execute("PRAGMA synchronous").fetchall() == [(2,)]


def test_the_reading_connection_only_reads(file: OpenFile) -> None:
    """A mistake there changes nothing."""
    with pytest.raises(apsw.ReadOnlyError):
        file.reading.execute("DELETE FROM meta")


def test_a_file_has_one_id(path: Path, machine_host: Host) -> None:
    """It is made with the file and stays; another file has another."""
    epochs = []
    for where in (path, path, path.with_name("other.db")):
        opened = opening.open_file(where, machine_host, Sealer())
        epochs.append(opened.epoch)
        close(opened)

    assert epochs[0] == epochs[1] != epochs[2]
    assert len(epochs[0]) == 32


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be taken for one" * 30, None])
def test_a_foreign_file_is_refused_and_left_alone(path: Path, machine_host: Host, content: bytes | None) -> None:
    """Neither another program's database nor any other file is written to."""
    if content is None:
        other = apsw.Connection(str(path))
        other.execute("CREATE TABLE theirs (x)")
        other.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()

    with pytest.raises(StoreRefusedError, match=r"operations\.db is no (OnceGate file|SQLite database)$"):
        opening.open_file(path, machine_host, Sealer())
    assert path.read_bytes() == before
    assert [it.name for it in path.parent.iterdir() if it.name.startswith(path.name)] == [path.name]


def test_a_witness_that_cannot_be_had_refuses_the_file(path: Path, machine_host: Host) -> None:
    """Without it nobody would notice a backup that is put in the file's place."""
    opening.witness_path(path).mkdir()

    with pytest.raises(StoreRefusedError, match=r"^the file cannot be opened: Is a directory$"):
        opening.open_file(path, machine_host, Sealer())


def test_a_missing_folder_is_refused(tmp_path: Path, machine_host: Host) -> None:
    """The error says so; who asked for the file knows its name."""
    with pytest.raises(StoreRefusedError, match=r"^the folder of this file is not there$"):
        opening.open_file(tmp_path / "missing" / "o.db", machine_host, Sealer())


async def test_a_schema_is_upgraded_in_place(path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of an older version is led on step by step, once, and its records are what they were."""
    store = SqliteOperationStore.open(path, host=host(clock))
    record = await drive(store, history("a", State.UNKNOWN, clock.monotonic()))
    await store.close()
    steps = (
        *opening.scripts(),
        "CREATE TABLE later (n INTEGER); INSERT INTO later VALUES (1);",
        "ALTER TABLE later ADD COLUMN m INTEGER; UPDATE later SET n = n + 1;",
    )
    monkeypatch.setattr(opening, "scripts", lambda: steps)

    for _ in range(2):
        store = SqliteOperationStore.open(path, host=host(clock))
        assert await store.by_key("acme", record.key) == record
        assert store._file.reading.execute("SELECT n, m FROM later").fetchall() == [(2, None)]
        await store.close()


@pytest.mark.parametrize("version", range(1, len(opening.scripts())))
async def test_every_earlier_version_is_led_on(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """A file of any version that there has been opens, keeps its records, and can do what the newest can."""
    steps = opening.scripts()[:version]
    with monkeypatch.context() as patched:
        patched.setattr(opening, "scripts", lambda: steps)
        store = SqliteOperationStore.open(path, host=host(clock))
        record = await drive(store, history("a", State.DONE, clock.monotonic()))
        await store.close()

    store = SqliteOperationStore.open(path, host=host(clock))
    clock.step_wall(60.0)
    assert await store.by_key("acme", record.key) == record
    assert await store.pinned() == ()
    assert await store.forget(retention_s=0.0, tools=(record.origin.tool,)) == 1
    await store.close()


async def test_a_failed_upgrade_leaves_the_file(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a step is none: the file opens as before with the program that knows it."""
    store = SqliteOperationStore.open(path, host=host(clock))
    record = await drive(store, history("a", State.DONE, clock.monotonic()))
    await store.close()
    steps = opening.scripts()
    with monkeypatch.context() as patched:
        patched.setattr(opening, "scripts", lambda: (*steps, "DROP TABLE rows; CREATE nonsense;"))
        with pytest.raises(StoreRefusedError, match="nonsense"):
            SqliteOperationStore.open(path, host=host(clock))

    store = SqliteOperationStore.open(path, host=host(clock))
    assert await store.by_key("acme", record.key) == record
    assert store._file.reading.execute("SELECT count(*) FROM rows").fetchall() == [(0,)]
    await store.close()


def test_a_newer_schema_is_refused(file: OpenFile, path: Path, machine_host: Host, sealer: Sealer) -> None:
    """An older program does not touch what a newer one wrote."""
    known = len(opening.scripts())
    adoption.remember(file.writing, "schema_version", known + 1)

    with pytest.raises(StoreRefusedError, match=f"schema version {known + 1} and this program knows {known}"):
        opening.open_file(path, machine_host, sealer)


def test_another_that_begins_with_the_new_file_is_waited_for(
    path: Path, machine_host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite itself gives up at once there: two gateways that start together must not keep each other from it."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(time, "sleep", lambda _: other.execute("ROLLBACK"))

    close(opening.open_file(path, machine_host, Sealer()))
    other.close()


def test_another_that_does_not_let_go_is_not_waited_for_for_ever(
    path: Path, machine_host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start fails, and says why."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(opening, "_START_UP_WAIT_MS", 0)

    with pytest.raises(StoreRefusedError, match="database is locked"):
        opening.open_file(path, machine_host, Sealer())
    other.close()
