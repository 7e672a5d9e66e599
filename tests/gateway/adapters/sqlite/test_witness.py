"""A backup in the place of the file, or a copy of it, has forgotten: it gets another epoch."""

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.sqlite.host import Host, file_identity
from gateway.adapters.sqlite.opening import witness_path
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.adapters.sqlite.witness import Witness
from gateway.stages.execute.operation.record import State
from tests.clocks import ManualClock
from tests.conformance.moves import drive, history


async def seen(path: Path, by: Host, *names: str) -> tuple[str, float | None]:
    """Open the file, store a record of each name, close; the epoch it had, and since when it has another memory."""
    store = SqliteOperationStore.open(path, host=by)
    for name in names:
        await drive(store, history(name, State.DONE, by.boottime()))
    await store.close()
    return store.epoch, store.changed_at


def everything(path: Path) -> list[Path]:
    """The file and what belongs to it."""
    return sorted(path.parent.glob(f"{path.name}*"))


def in_place(path: Path, backup: Path) -> None:
    """The backup of the file alone is written over it: its inode stays."""
    path.write_bytes((backup / path.name).read_bytes())


def all_of_it(path: Path, backup: Path) -> None:
    """Everything was lost, and everything comes back from the backup."""
    for lost in everything(path):
        lost.unlink()
    for kept in backup.iterdir():
        shutil.copy2(kept, path.parent / kept.name)


def without_a_witness(path: Path, backup: Path) -> None:
    """Only the file comes back."""
    for lost in everything(path):
        lost.unlink()
    shutil.copy2(backup / path.name, path)


@pytest.mark.parametrize("restore", [in_place, all_of_it, without_a_witness])
async def test_a_restored_backup_has_another_epoch(
    path: Path,
    machine_host: Host,
    clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
    restore: Callable[[Path, Path], None],
) -> None:
    """What it has forgotten may have been sent: the epoch changes, once, the time is told, and so is the operator."""
    epoch, never = await seen(path, machine_host, "a")
    backup = path.parent / "backup"
    backup.mkdir()
    for file in everything(path):
        shutil.copy2(file, backup / file.name)
    await clock.advance(60.0)
    assert await seen(path, machine_host, "b") == (epoch, never) == (epoch, None)
    restore(path, backup)
    await clock.advance(60.0)

    with caplog.at_level(logging.WARNING, "oncegate"):
        restored, since = await seen(path, machine_host)

    assert restored != epoch
    assert since == clock.monotonic()
    assert [it for it in caplog.messages if "a backup" in it] != []
    await clock.advance(60.0)
    assert await seen(path, machine_host, "c") == (restored, since)


async def test_a_file_made_anew_beside_its_witness_has_forgotten(
    path: Path, machine_host: Host, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody removed it: what it knew may have been sent. A witness alone makes no file of another place forget."""
    epoch, never = await seen(path, machine_host, "a")
    assert never is None
    for lost in set(everything(path)) - {witness_path(path)}:
        lost.unlink()
    await clock.advance(60.0)

    with caplog.at_level(logging.WARNING, "oncegate"):
        anew, since = await seen(path, machine_host)

    assert anew != epoch
    assert since == clock.monotonic()
    assert [it for it in caplog.messages if "is new" in it] != []
    assert (await seen(path.with_name("other.db"), machine_host))[1] is None


async def test_a_file_that_was_only_closed_or_killed_keeps_its_epoch(path: Path, machine_host: Host) -> None:
    """Also one whose witness was lost, or says less than the file, as after a loss of power."""
    epoch, _ = await seen(path, machine_host, "a")
    witness_path(path).unlink()
    assert await seen(path, machine_host, "b") == (epoch, None)

    witness = Witness(witness_path(path))
    witness.tell(epoch, 1.0)
    witness.close()
    assert await seen(path, machine_host) == (epoch, None)

    witness_path(path).write_text("no witness")
    assert await seen(path, machine_host) == (epoch, None)


@pytest.mark.parametrize(("over_s", "kept"), [(3600.0, True), (2 * 86_400.0, False)])
async def test_a_boot_begins_the_time_of_doubt_anew_unless_it_is_long_over(
    path: Path, machine_host: Host, clock: ManualClock, over_s: float, *, kept: bool
) -> None:
    """The clock that counts from the boot says nothing of before it."""
    await seen(path, machine_host)
    copy = path.with_name("copy.db")
    shutil.copy2(path, copy)
    assert (await seen(copy, machine_host))[1] is not None
    await clock.advance(over_s)

    rebooted = replace(machine_host, boot_id="boot-2", boottime=lambda: 5.0)

    assert (await seen(copy, rebooted))[1] == (5.0 if kept else None)


def test_a_file_is_told_from_one_that_got_its_inode(tmp_path: Path) -> None:
    """By its birth; the same file stays the same under another name and with other content."""
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_text("one")
    first = file_identity(path)
    path.write_text("more")
    path.rename(other)
    assert file_identity(other) == first

    other.unlink()
    path.write_text("one")
    assert file_identity(path) != first
