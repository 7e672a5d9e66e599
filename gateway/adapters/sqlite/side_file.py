"""A file beside the records: what processes of one host share, and what a power failure may take.

Nothing in it is synced to the disk. A file that is broken is made anew.
"""

import os
from pathlib import Path

import apsw


def open_side_file(path: Path, schema: str) -> apsw.Connection:
    """Open it, or make it. Whoever uses it waits for locks himself.

    Raises:
        OSError, apsw.Error: it cannot be used.
    """
    try:
        return _connected(path, schema)
    except (apsw.CorruptError, apsw.NotADBError):
        for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            name.unlink(missing_ok=True)
        return _connected(path, schema)


def _connected(path: Path, schema: str) -> apsw.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(schema)
    except BaseException:
        connection.close()
        raise
    return connection
