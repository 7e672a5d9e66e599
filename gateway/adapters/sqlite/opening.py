"""Opens the file, or refuses: everything that must hold before the first record is trusted to it.

All of it happens in one write transaction, so that processes starting together find either nothing or all of it.
"""

import logging
import os
import re
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

import apsw

from gateway.adapters.sqlite import adoption
from gateway.adapters.sqlite.adoption import StoreRefusedError
from gateway.adapters.sqlite.host import NETWORK_FILESYSTEMS, Host, file_identity
from gateway.adapters.sqlite.witness import Witness
from gateway.at_rest.sealing import Sealer

logger = logging.getLogger("oncegate")

MIN_SQLITE: Final = (3, 51, 3)
"""Before it, a checkpoint that races a writer of another process can lose acknowledged commits (WAL-reset bug)."""

_APPLICATION_ID: Final = int.from_bytes(b"OnGt")
_START_UP_WAIT_MS: Final = 30_000
_AGAIN_S: Final = 0.01
_CACHED_STATEMENTS: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """An open file.

    Attributes:
        inode: of the file as it was opened: another file under its path is another memory.
        writing, reading: the process's two connections; neither waits for a lock.
        epoch: the file's id, made with it; another once it was found to have forgotten.
        changed_at: when that was, on the host's boot clock; None: never, or long ago.
        hold_secret: keys the digests of hold entries.
    """

    path: Path
    inode: int
    writing: apsw.Connection
    reading: apsw.Connection
    epoch: str
    changed_at: float | None
    witness: Witness
    hold_secret: bytes


def open_file(path: Path, host: Host, sealer: Sealer, *, accept_host: bool = False) -> OpenFile:
    """Open or create the file.

    Args:
        accept_host: the file was moved here from another machine, on purpose, and nobody uses it there any more.

    Raises:
        StoreRefusedError: it must not be used: too old an SQLite, a network file system, another machine's file,
            a newer schema, no OnceGate file, not readable.
        SealError: a key that sealed what is in it is missing or another one.
    """
    require_sqlite(apsw.sqlite_lib_version())
    try:
        _create(path)
        require_local(path, host)
        writing = _connect(path)
    except (OSError, apsw.Error) as error:
        raise StoreRefusedError(_unopened(error)) from error
    witness = None
    try:
        _prepare(writing, path)
        # Not before the file is known to be one of ours: nothing is put beside what is somebody else's.
        witness = Witness(witness_path(path))
        with _transaction(writing):
            upgrade(writing, scripts())
            adoption.adopt_host(writing, host, accept_host=accept_host)
            hold_secret = adoption.adopt_seals(writing, sealer)
            adoption.adopt_boot(writing, host, sealer)
            forgot = adoption.adopt_file(writing, host, identity=file_identity(path), told=witness.told())
            epoch = str(adoption.recall(writing, "epoch"))
            changed_at = adoption.changed_at(writing)
            # Before it is durable: should it not become so, the next who opens the file is told that it is another.
            witness.tell(epoch, float(adoption.recall(writing, "largest_wall")))
        reading = _connect(path)
        reading.execute("PRAGMA query_only = ON")
    except BaseException as error:
        writing.close()
        if witness is not None:
            witness.close()
        if isinstance(error, OSError | apsw.Error):
            raise StoreRefusedError(_unusable(path, error)) from error
        raise
    if forgot:
        _tell_forgotten(path, epoch)
    for connection in (writing, reading):
        # From here on waiting is ours: SQLite's own would stop the loop.
        connection.set_busy_timeout(0)
    return OpenFile(
        path=path,
        inode=path.stat().st_ino,
        writing=writing,
        reading=reading,
        epoch=epoch,
        changed_at=changed_at,
        witness=witness,
        hold_secret=hold_secret,
    )


def _tell_forgotten(path: Path, epoch: str) -> None:
    logger.warning(
        "the store's file %s is new, a copy or a backup, and not the one that was last written: what it has forgotten may"
        " have been sent; tools without a key are refused until that is over, the others look first (epoch %s)",
        str(path),
        epoch,
    )


def witness_path(path: Path) -> Path:
    """Where the witness of this file is."""
    return path.with_name(f"{path.name}-witness")


def require_sqlite(version: str) -> None:
    """Refuse an SQLite that can lose acknowledged commits.

    Raises:
        StoreRefusedError: `version` is older than `MIN_SQLITE`.
    """
    if tuple(int(part) for part in version.split(".")[:3]) < MIN_SQLITE:
        needed = ".".join(str(part) for part in MIN_SQLITE)
        raise StoreRefusedError(f"SQLite {version} can lose acknowledged commits between processes: {needed} is needed")


def require_local(path: Path, host: Host) -> None:
    """Refuse a file system whose locks or shared memory may not hold between processes.

    Raises:
        StoreRefusedError: it is one of `NETWORK_FILESYSTEMS`.
    """
    name = NETWORK_FILESYSTEMS.get(host.filesystem_type(path))
    if name is not None:
        raise StoreRefusedError(f"{path} is on a network file system ({name}): SQLite's locks may not hold there")


def scripts() -> tuple[str, ...]:
    """The steps of the schema, first to last. Step n leads to schema version n."""
    folder = resources.files("gateway.adapters.sqlite") / "upgrades"
    found = sorted(step.name for step in folder.iterdir() if re.fullmatch(r"\d{3}_\w+\.sql", step.name))
    return tuple((folder / name).read_text(encoding="utf-8") for name in found)


def upgrade(connection: apsw.Connection, steps: tuple[str, ...]) -> None:
    """Lead the file's schema to the newest version, inside the caller's transaction.

    Raises:
        StoreRefusedError: the file is already newer than this program.
    """
    connection.execute("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID")
    version = int(adoption.recall(connection, "schema_version") or 0)
    if version > len(steps):
        raise StoreRefusedError(f"the file has schema version {version} and this program knows {len(steps)}")
    for step in steps[version:]:
        connection.execute(step)
    adoption.remember(connection, "schema_version", len(steps))


def _create(path: Path) -> None:
    """Make the file with mode 0600 before SQLite does; its -wal and -shm take over the mode."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.close(descriptor)


def _connect(path: Path) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=_CACHED_STATEMENTS)
    connection.set_busy_timeout(_START_UP_WAIT_MS)
    # Or every new value of a parameter that a partial index could depend on has its statement parsed again.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def _unopened(error: OSError | apsw.Error) -> str:
    """Without the file's name: who opened it says that, in its own words for it."""
    if isinstance(error, FileNotFoundError):
        return "the folder of this file is not there"
    return f"the file cannot be opened: {error.strerror if isinstance(error, OSError) else error}"


def _unusable(path: Path, error: OSError | apsw.Error) -> str:
    """Of a file that is open."""
    if isinstance(error, OSError):
        return _unopened(error)
    if isinstance(error, apsw.NotADBError):
        return f"{path} is no SQLite database"
    return f"{path}: {type(error).__name__}: {error}"


def _prepare(connection: apsw.Connection, path: Path) -> None:
    # One statement: between two, another process may have made it ours.
    asked = "SELECT application_id, schema_version FROM pragma_application_id, pragma_schema_version"
    application, schema = next(connection.execute(asked))
    if application not in (0, _APPLICATION_ID) or (application == 0 and schema != 0):
        raise StoreRefusedError(f"{path} is no OnceGate file")
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    if application == 0:
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")


def _write_ahead(connection: apsw.Connection) -> None:
    """Switch to a write-ahead log.

    SQLite does not wait for another process that is about to write a new file, for that one may wait for us.
    """
    until = time.monotonic() + _START_UP_WAIT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() >= until:
                raise
            time.sleep(_AGAIN_S)
        else:
            return


class _transaction:  # noqa: N801 - it reads as a statement
    """BEGIN IMMEDIATE … COMMIT: apsw's own context manager begins without the write lock."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")
