"""What a crash leaves on the disk: copies of a store's file as it is at one moment, its log torn if asked."""

import shutil
from pathlib import Path

import apsw


def image(path: Path, folder: Path, *, log_bytes: int | None = None) -> Path:
    """Copy the file and its log; the shared memory is what a crash loses. `log_bytes` cuts the log there."""
    folder.mkdir()
    copied = folder / path.name
    shutil.copyfile(path, copied)
    log = path.with_name(path.name + "-wal")
    if log.exists():
        text = log.read_bytes()
        copied.with_name(log.name).write_bytes(text if log_bytes is None else text[:log_bytes])
    return copied


def log_bytes(path: Path) -> int:
    """How long the log of `path` is."""
    return path.with_name(path.name + "-wal").stat().st_size


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with the file."""
    connection = apsw.Connection(str(path))
    try:
        return connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    finally:
        connection.close()
