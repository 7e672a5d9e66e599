"""Checkpoints in one SQLite file, for the agents of one machine."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from agent_client.checkpoints import schema
from agent_client.checkpoints.rows import Seal
from agent_client.checkpoints.sessions import Session, Sessions, Value
from agent_client.checkpoints.sql import SqlCheckpoints
from agent_client.journal import CheckpointsUnavailable, CorruptLog

_T = TypeVar("_T")
_BUSY_S: Final = 20.0
_PRAGMA_TRIES: Final = 200
_PRAGMA_EVERY_S: Final = 0.02


def wal_is_safe(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite may keep a write-ahead log that several processes write to.

    Versions before 3.51.3 (and before the repaired 3.50.7 and 3.44.6) can lose a commit that was acknowledged when
    one process writes while another resets the log.
    """
    repaired = {(3, 50): 7, (3, 44): 6}
    return version >= (3, 51, 3) or (version[:2] in repaired and version[2] >= repaired[version[:2]])


class SQLiteSession:
    """One connection."""

    locking = ""

    def __init__(self, path: str) -> None:
        try:
            # The transactions here are our own; the library would begin them late, and without the write lock.
            self._connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as failure:
            raise CheckpointsUnavailable(f"the checkpoints at {path} cannot be opened: {failure}") from failure
        try:
            journal = "WAL" if wal_is_safe(sqlite3.sqlite_version_info[:3]) else "PERSIST"
            self._pragma(f"journal_mode = {journal}")
            # EXTRA is FULL, and the folder too is on the disk before a commit is acknowledged.
            self._pragma("synchronous = EXTRA")
            self.run(schema.upgrade, writes=True)
        except BaseException:
            self._connection.close()
            raise

    def execute(self, statement: str, parameters: Sequence[Value] = ()) -> tuple[list[tuple[Any, ...]], int]:
        """As the protocol says."""
        cursor = self._connection.execute(statement, parameters)
        return cursor.fetchall(), cursor.rowcount

    def run(self, work: Callable[[Session], _T], *, writes: bool) -> _T:
        """As the protocol says."""
        try:
            self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            result = work(self)
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as failure:
            raise CheckpointsUnavailable(f"the checkpoints cannot be used now: {failure}") from failure
        except sqlite3.DatabaseError as failure:
            raise CorruptLog(f"the checkpoints are damaged: {failure}") from failure
        else:
            return result
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()

    def close(self) -> None:
        """As the protocol says."""
        self._connection.close()

    def _pragma(self, words: str) -> None:
        for _ in range(_PRAGMA_TRIES):
            try:
                self._connection.execute(f"PRAGMA {words}").fetchall()
            except sqlite3.OperationalError as failure:
                # A change of journal does not wait for other processes, whatever the timeout is.
                trouble: sqlite3.Error = failure
                threading.Event().wait(_PRAGMA_EVERY_S)
            except sqlite3.DatabaseError as failure:
                raise CorruptLog(f"the checkpoints are damaged: {failure}") from failure
            else:
                return
        raise CheckpointsUnavailable(f"the checkpoints cannot be used now: {trouble}") from trouble


class SQLiteCheckpoints(SqlCheckpoints):
    """An `agent_client.ports.Checkpoints` in a file. Several processes of one machine may share it.

    A commit is on the disk when it is acknowledged. The journal is a write-ahead log where this Python's SQLite is
    one that may keep it (`wal_is_safe`), and a rollback journal otherwise, which is slower and no less safe.

    Args:
        path: the file; it is made when it is not there. Not on a network file system.
        integrity_key: 16 bytes or more; with it the digests of rows are HMACs. The same for every process.
    """

    def __init__(self, path: str | Path, *, integrity_key: bytes | None = None) -> None:
        place = str(path)
        if not place or place == ":memory:" or place.startswith("file:"):
            raise ValueError("SQLiteCheckpoints needs the path of a file; MemoryCheckpoints keeps nothing")
        super().__init__(Sessions(lambda: SQLiteSession(place), 1), Seal(integrity_key))
        self.path = place

    def __repr__(self) -> str:
        return f"<SQLiteCheckpoints {self.path}>"
