"""Checkpoints in SQLite: the suite, and what only a file can show."""

import os
import sqlite3
from pathlib import Path

import pytest

from agent_client.checkpoints import SQLiteCheckpoints
from agent_client.checkpoints.sqlite import wal_is_safe
from agent_client.journal import CheckpointsUnavailable, CorruptLog
from agent_client.testing import CHECKPOINT_CHECKS, CheckpointSubject
from agent_client.testing.checkpoints import Check, bodies, commit
from tests.agent_client.checkpoints.stores import KEY, SQLITE


@pytest.mark.parametrize("check", CHECKPOINT_CHECKS, ids=lambda check: check.__name__)
async def test_scenario_2_3_5_6_10_11_sqlite_is_a_checkpoint_store(check: Check, tmp_path: Path) -> None:
    """Every promise, with processes that are killed."""
    await check(CheckpointSubject(shared=SQLITE, arguments=(str(tmp_path / "runs.db"),)))


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 9), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 54, 0), True),
    ],
)
def test_a_write_ahead_log_is_kept_only_where_it_is_safe(version: tuple[int, int, int], safe: bool) -> None:  # noqa: FBT001
    """Some versions lose acknowledged commits when two processes share a write-ahead log."""
    assert wal_is_safe(version) is safe


@pytest.mark.parametrize("safe", [True, False])
async def test_the_journal_is_the_one_that_is_safe(
    safe: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A write-ahead log is in the file's header; a rollback journal leaves an empty file beside it."""
    version = (3, 54, 0) if safe else (3, 40, 1)
    monkeypatch.setattr("agent_client.checkpoints.sqlite.sqlite3.sqlite_version_info", version)
    async with SQLiteCheckpoints(tmp_path / "runs.db") as store:
        await store.create("t", commit(0, "a"))
        beside = set(os.listdir(tmp_path))  # noqa: PTH208 - a folder of our own, once

    assert ("runs.db-wal" in beside) is safe
    assert ("runs.db-journal" in beside) is not safe


async def test_a_commit_is_on_the_disk_when_it_is_acknowledged(tmp_path: Path) -> None:
    """`synchronous` is EXTRA on the connection that writes."""
    async with SQLiteCheckpoints(tmp_path / "runs.db") as store:
        [(level,)], _ = await store._sessions.run(lambda session: session.execute("PRAGMA synchronous"))

    assert level == 3


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE checkpoint_entries SET body = 'other' WHERE position = 2",
        "UPDATE checkpoint_entries SET kind = 'other' WHERE position = 2",
        "UPDATE checkpoint_entries SET at_wall = 9 WHERE position = 2",
        "UPDATE checkpoint_entries SET version = 0 WHERE position = 2",
        "DELETE FROM checkpoint_entries WHERE position = 2",
        "DELETE FROM checkpoint_entries WHERE position = 3",
        "UPDATE checkpoint_tasks SET status = 'SUCCEEDED'",
        "UPDATE checkpoint_tasks SET position = 2, version = 1",
        "INSERT INTO checkpoint_entries SELECT task_id, 4, version, kind, at_wall, body, digest FROM checkpoint_entries LIMIT 1",
    ],
)
async def test_a_changed_row_fails_closed(damage: str, tmp_path: Path) -> None:
    """Nothing is run from a log that is not the one that was written."""
    path = tmp_path / "runs.db"
    async with SQLiteCheckpoints(path) as store:
        await store.create("t", commit(0, "a"))
        await store.append("t", after=1, commit=commit(1, "b"))
        await store.append("t", after=2, commit=commit(2, "c"))
    await _execute(path, damage)
    async with SQLiteCheckpoints(path) as store:
        with pytest.raises(CorruptLog, match="task t is damaged"):
            await store.load("t")
        with pytest.raises(CorruptLog, match="task t is damaged"):
            await store.load("t", version=1)
        with pytest.raises(CorruptLog, match="task t is damaged"):
            await store.events("t")


async def test_a_changed_snapshot_fails_closed(tmp_path: Path) -> None:
    """A snapshot is covered as entries are."""
    path = tmp_path / "runs.db"
    async with SQLiteCheckpoints(path) as store:
        await store.create("t", commit(0, "a", snapshot="S"))
    await _execute(path, "UPDATE checkpoint_snapshots SET body = 'other'")
    async with SQLiteCheckpoints(path) as store:
        with pytest.raises(CorruptLog, match="snapshot at 1 was changed"):
            await store.load("t")


async def test_a_row_made_without_the_key_is_refused(tmp_path: Path) -> None:
    """Who can write to the file but has no key cannot make a log that is accepted."""
    path = tmp_path / "runs.db"
    async with SQLiteCheckpoints(path) as forger:
        await forger.create("t", commit(0, "forged"))
    async with SQLiteCheckpoints(path, integrity_key=KEY) as store:
        with pytest.raises(CorruptLog):
            await store.load("t")
        await store.create("mine", commit(0, "a"))
        assert bodies(await store.load("mine")) == ["a"]
    with pytest.raises(ValueError, match="16 bytes"):
        SQLiteCheckpoints(path, integrity_key=b"short")


async def test_a_file_that_is_none_of_ours_is_an_error(tmp_path: Path) -> None:
    """Garbage is damaged, a folder is unavailable; both are said, and neither is overwritten."""
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(b"not a database, " * 100)
    with pytest.raises(CorruptLog):
        await SQLiteCheckpoints(garbage).load("t")
    with pytest.raises(CheckpointsUnavailable, match="cannot be opened"):
        await SQLiteCheckpoints(tmp_path / "no" / "folder.db").load("t")

    assert garbage.read_bytes().startswith(b"not a database")


async def test_a_file_that_another_holds_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the wait for the lock: not a hang, and not an empty answer."""
    monkeypatch.setattr("agent_client.checkpoints.sqlite._BUSY_S", 0.01)
    path = tmp_path / "runs.db"
    async with SQLiteCheckpoints(path) as store:
        await store.create("t", commit(0, "a"))
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CheckpointsUnavailable, match="locked"):
            await store.append("t", after=1, commit=commit(1, "b"))
        holder.rollback()
        holder.close()
        assert await store.append("t", after=1, commit=commit(1, "b")) == 2


@pytest.mark.parametrize("place", ["", ":memory:", "file:x?mode=memory"])
def test_what_keeps_nothing_is_not_a_file(place: str) -> None:
    """A store in memory would lose what it acknowledged."""
    with pytest.raises(ValueError, match="path of a file"):
        SQLiteCheckpoints(place)


async def _execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
