"""Checkpoints in Postgres, for agents on many machines. psycopg is imported when the first connection is opened."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agent_client.checkpoints import schema
from agent_client.checkpoints.rows import Seal
from agent_client.checkpoints.sessions import Session, Sessions, Value
from agent_client.checkpoints.sql import SqlCheckpoints
from agent_client.journal import CheckpointsUnavailable, CorruptLog

if TYPE_CHECKING:
    import psycopg

_T = TypeVar("_T")
_SETTINGS: Final = (
    # A server that acknowledges before it has written would make every promise here empty.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    "SET lock_timeout = '20s'",
    "SET statement_timeout = '60s'",
    "SET idle_in_transaction_session_timeout = '60s'",
)
_SCHEMA_LOCK: Final = 0x0CE9A7E
"""Two processes that find an empty database at once make its tables one after the other."""


class PostgresSession:
    """One connection, opened again when it was lost before anything was asked of it."""

    locking = " FOR UPDATE"

    def __init__(self, address: str) -> None:
        try:
            import psycopg  # noqa: PLC0415 - only those who use Postgres need it
        except ImportError as missing:
            raise RuntimeError("PostgresCheckpoints needs psycopg: pip install 'oncegate[postgres]'") from missing
        self._psycopg = psycopg
        self._address = address
        self._connection = self._opened()
        try:
            self.run(self._upgrade, writes=True)
        except BaseException:
            self._connection.close()
            raise

    def execute(self, statement: str, parameters: Sequence[Value] = ()) -> tuple[list[tuple[Any, ...]], int]:
        """As the protocol says."""
        cursor = self._connection.execute(statement.replace("?", "%s"), parameters or None)
        return (cursor.fetchall() if cursor.description else []), cursor.rowcount

    def run(self, work: Callable[[Session], _T], *, writes: bool) -> _T:
        """As the protocol says."""
        begin = "BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        try:
            self._begin(begin)
            try:
                result = work(self)
                self._connection.execute("COMMIT")
            except BaseException:
                self._undo()
                raise
            return result
        except (self._psycopg.errors.DataCorrupted, self._psycopg.errors.IndexCorrupted) as failure:
            raise CorruptLog(f"the checkpoints are damaged: {failure}") from failure
        except self._psycopg.Error as failure:
            raise CheckpointsUnavailable(f"the checkpoints cannot be used now: {failure}") from failure

    def close(self) -> None:
        """As the protocol says."""
        self._connection.close()

    def _opened(self) -> "psycopg.Connection[tuple[Any, ...]]":
        try:
            connection = self._psycopg.connect(self._address, autocommit=True, connect_timeout=10)
            for setting in _SETTINGS:
                connection.execute(setting)
        except self._psycopg.Error as failure:
            # The address may hold a password, and the library's words may hold the address.
            raise CheckpointsUnavailable("the checkpoints' database cannot be reached") from failure
        return connection

    def _begin(self, begin: str) -> None:
        if not self._connection.closed:
            try:
                self._connection.execute(begin)
            except self._psycopg.OperationalError:
                # It was lost while it was idle: nothing was asked, so asking on a new one repeats nothing.
                self._connection.close()
            else:
                return
        self._connection = self._opened()
        self._connection.execute(begin)

    def _undo(self) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except self._psycopg.Error:
            self._connection.close()

    def _upgrade(self, session: Session) -> None:
        session.execute("SELECT pg_advisory_xact_lock(?)", (_SCHEMA_LOCK,))
        schema.upgrade(session)


class PostgresCheckpoints(SqlCheckpoints):
    """An `agent_client.ports.Checkpoints` in a Postgres database that any number of machines share.

    Args:
        address: a connection string or URL, as psycopg takes it. It is in no repr.
        connections: at most so many at once; each has a thread.
        integrity_key: 16 bytes or more; with it the digests of rows are HMACs. The same for every process.
    """

    def __init__(self, address: str, *, connections: int = 4, integrity_key: bytes | None = None) -> None:
        super().__init__(Sessions(lambda: PostgresSession(address), connections), Seal(integrity_key))

    def __repr__(self) -> str:
        return "<PostgresCheckpoints>"
