"""Checkpoints in Postgres, for agents on many machines. asyncpg is imported when the first connection is opened."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from itertools import count
from typing import Any, Final, TypeVar

from agent_client.checkpoints import schema
from agent_client.checkpoints.rows import Seal
from agent_client.checkpoints.sessions import Session, Sessions, Value
from agent_client.checkpoints.sql import SqlCheckpoints
from agent_client.extras import installing
from agent_client.journal import CheckpointsUnavailable, CorruptLog

_T = TypeVar("_T")
_SETTINGS: Final = (
    # A server that acknowledges before it has written would make every promise here empty.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    "SET lock_timeout = '20s'",
    "SET statement_timeout = '60s'",
    "SET idle_in_transaction_session_timeout = '60s'",
)
_CONNECT_S: Final = 10.0
_CLOSE_S: Final = 5.0
_ASKS: Final = ("SELECT", "SHOW")
_SCHEMA_LOCK: Final = 0x0CE9A7E
"""Two processes that find an empty database at once make its tables one after the other."""


class PostgresSession:
    """One connection, opened again when it was lost before anything was asked of it.

    asyncpg only awaits, and a session is used by one thread only: that thread's own loop runs while it is asked.
    """

    locking = " FOR UPDATE"

    def __init__(self, address: str) -> None:
        try:
            import asyncpg  # noqa: PLC0415 - only those who use Postgres need it
        except ImportError as missing:
            raise RuntimeError(f"PostgresCheckpoints needs asyncpg: {installing('postgres')}") from missing
        self._asyncpg = asyncpg
        self._failures = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
        self._address = address
        self._runner = asyncio.Runner()
        self._connection: Any = None
        try:
            self._connection = self._wait(self._opened())
            self.run(self._upgrade, writes=True)
        except BaseException:
            self.close()
            raise

    def execute(self, statement: str, parameters: Sequence[Value] = ()) -> tuple[list[tuple[Any, ...]], int]:
        """As the protocol says."""
        return self._wait(self._ask(_numbered(statement), parameters))

    def run(self, work: Callable[[Session], _T], *, writes: bool) -> _T:
        """As the protocol says."""
        begin = "BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        try:
            self._wait(self._begin(begin))
            try:
                result = work(self)
                self.execute("COMMIT")
            except BaseException:
                self._wait(self._undo())
                raise
            return result
        except (self._asyncpg.DataCorruptedError, self._asyncpg.IndexCorruptedError) as failure:
            raise CorruptLog(f"the checkpoints are damaged: {failure}") from failure
        except self._failures as failure:
            raise CheckpointsUnavailable(f"the checkpoints cannot be used now: {failure}") from failure

    def close(self) -> None:
        """As the protocol says."""
        if self._connection is not None:
            self._wait(self._leave())
        self._runner.close()

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._runner.run(work)

    async def _ask(self, statement: str, parameters: Sequence[Value]) -> tuple[list[tuple[Any, ...]], int]:
        if statement.startswith(_ASKS):
            rows = await self._connection.fetch(statement, *parameters)
            return [tuple(row) for row in rows], len(rows)
        # `INSERT 0 1`, `UPDATE 1`; what touches no rows ends in a word.
        touched = (await self._connection.execute(statement, *parameters)).rpartition(" ")[2]
        return [], int(touched) if touched.isdigit() else 0

    async def _opened(self) -> Any:
        try:
            connection = await self._asyncpg.connect(self._address, timeout=_CONNECT_S)
            for setting in _SETTINGS:
                await connection.execute(setting)
        except (*self._failures, ValueError) as failure:
            # The address may hold a password, and the library's words may hold the address.
            raise CheckpointsUnavailable("the checkpoints' database cannot be reached") from failure
        return connection

    async def _begin(self, begin: str) -> None:
        if not self._connection.is_closed():
            try:
                await self._connection.execute(begin)
            except self._failures:
                # It was lost while it was idle: nothing was asked, so asking on a new one repeats nothing.
                await self._leave()
            else:
                return
        self._connection = await self._opened()
        await self._connection.execute(begin)

    async def _undo(self) -> None:
        try:
            await self._connection.execute("ROLLBACK")
        except self._failures:
            await self._leave()

    async def _leave(self) -> None:
        try:
            await self._connection.close(timeout=_CLOSE_S)
        except self._failures:
            self._connection.terminate()

    def _upgrade(self, session: Session) -> None:
        session.execute("SELECT pg_advisory_xact_lock(?)", (_SCHEMA_LOCK,))
        schema.upgrade(session)


@cache
def _numbered(statement: str) -> str:
    """`$1`, `$2` for each `?`. No statement here has one in a literal."""
    numbers = count(1)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", statement)


class PostgresCheckpoints(SqlCheckpoints):
    """An `agent_client.ports.Checkpoints` in a Postgres database that any number of machines share.

    Args:
        address: `postgresql://…`, as asyncpg takes it: what it leaves out comes from `PGHOST`, `PGPASSWORD` and their like.
            It is in no repr.
        connections: at most so many at once; each has a thread.
        integrity_key: 16 bytes or more; with it the digests of rows are HMACs. The same for every process.

    Raises:
        ValueError: the address is none of these.
    """

    def __init__(self, address: str, *, connections: int = 4, integrity_key: bytes | None = None) -> None:
        if not address.startswith(("postgresql://", "postgres://")):
            raise ValueError("PostgresCheckpoints needs an address that begins with postgresql://")
        super().__init__(Sessions(lambda: PostgresSession(address), connections), Seal(integrity_key))

    def __repr__(self) -> str:
        return "<PostgresCheckpoints>"
