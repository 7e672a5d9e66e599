"""Pinned manifests in the file."""

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from gateway.adapters.sqlite import opening, pins
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.stages.execute.operation.ports import PinnedManifest

FIRST = PinnedManifest(digest="sha256:1", tool="act", operation="act", revision=1, canonical=b"{}")


async def test_pins_outlive_the_process(tmp_path: Path) -> None:
    """What was pinned is read back from the file, the earliest first, and pinning again changes nothing."""
    store = SqliteOperationStore.open(tmp_path / "records.db")
    await store.pin((FIRST,))
    await store.pin((PinnedManifest(digest="sha256:1", tool="other", operation="x", revision=9, canonical=b"[]"),))
    await store.close()
    reopened = SqliteOperationStore.open(tmp_path / "records.db")

    assert await reopened.pinned() == (FIRST,)

    await reopened.close()


async def test_a_process_that_does_not_know_the_count_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that opened the file before the count was kept pins before and after that, and another one sees both."""
    steps = opening.scripts()
    monkeypatch.setattr(opening, "scripts", lambda: steps[:4])
    older = SqliteOperationStore.open(tmp_path / "records.db")
    await older.pin((FIRST,))
    monkeypatch.setattr(opening, "scripts", lambda: steps)
    newer = SqliteOperationStore.open(tmp_path / "records.db")
    assert await newer.pins() == 1

    await older.pin((FIRST, replace(FIRST, digest="sha256:2")))

    assert await newer.pins() == 2
    await older.close()
    await newer.close()


async def test_to_count_a_thousand_takes_as_many_pages_as_to_count_five(tmp_path: Path) -> None:
    """Every write asks whether another process has pinned one."""
    store = SqliteOperationStore.open(tmp_path / "records.db")
    reading = store._file.reading

    async def pages(pinned: int) -> int:
        await store.pin([replace(FIRST, digest=f"sha256:{n}", canonical=b"x" * 900) for n in range(pinned)])
        assert pins.count(reading) == pinned
        before, _ = reading.status(apsw.SQLITE_DBSTATUS_CACHE_HIT)
        pins.count(reading)
        return reading.status(apsw.SQLITE_DBSTATUS_CACHE_HIT)[0] - before

    assert 0 < await pages(5) == await pages(1000)
    await store.close()
