"""Breakers that the processes on one store file share, in a file beside it.

What was read holds for half a second: a healthy call reads at most that often, and never writes. Standings are of one
boot, by whose clock their times are; those of an earlier one are nobody's.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from gateway.adapters.sqlite.host import Host
from gateway.adapters.sqlite.side_file import open_side_file
from gateway.at_rest.breakers import breaker_of, breaker_text
from gateway.stages.execute.breaker.breaker import Breaker
from gateway.stages.execute.breaker.ports import BreakerStoreAway, Standing

_log = logging.getLogger("oncegate")
_T = TypeVar("_T")

FRESH_S: Final = 0.5
"""How long what was read may be gone by."""
_AWAY_S: Final = 0.5
"""After a failure, how long nobody tries: each call would wait in vain."""
_RETRY_S: Final = 0.001
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS breakers (
  scope TEXT PRIMARY KEY, boot TEXT, generation INTEGER, body BLOB, throttled_until REAL
) WITHOUT ROWID;
"""
_THERE: Final = "SELECT generation, body, throttled_until FROM breakers WHERE scope = ? AND boot = ?"
_Row = tuple[int, bytes | None, float]
_NOBODY_WROTE: Final[_Row] = (0, None, 0.0)


class SqliteBreakers:
    """A `BreakerStore` of the processes of one host. The file is opened when a breaker is first asked about."""

    def __init__(self, path: Path, host: Host, *, wait_s: float = 0.25) -> None:
        """`wait_s`: how long another process may keep the file from this one."""
        self._path = path
        self._host = host
        self._wait_s = wait_s
        self._connection: apsw.Connection | None = None
        self._heard: dict[str, tuple[float, Standing]] = {}
        self._away_until = float("-inf")
        self._said = False

    def __repr__(self) -> str:
        return f"<SqliteBreakers {self._path} {len(self._heard)} scopes>"

    def now(self) -> float:
        return self._host.boottime()

    def peek(self, scope: str) -> Standing | None:
        at, standing = self._heard.get(scope, (float("-inf"), None))
        return standing if self._host.boottime() < at + FRESH_S else None

    async def load(self, scope: str) -> Standing:
        _, body, until = await self._within(lambda it: self._there(it, scope))
        return self._hear(scope, Standing(breaker=breaker_of(scope, body), throttled_until=until))

    async def swap(self, scope: str, expected: int, breaker: Breaker) -> Breaker:
        def write(connection: apsw.Connection) -> Standing:
            generation, body, until = self._there(connection, scope)
            if generation != expected:
                return Standing(breaker=breaker_of(scope, body), throttled_until=until)
            self._put(connection, scope, (breaker.generation, breaker_text(scope, breaker), until))
            return Standing(breaker=breaker, throttled_until=until)

        return self._hear(scope, await self._within(write, writes=True)).breaker

    async def throttle(self, scope: str, until: float) -> None:
        def write(connection: apsw.Connection) -> float:
            generation, body, before = self._there(connection, scope)
            later = max(before, until)
            self._put(connection, scope, (generation, body, later))
            return later

        later = await self._within(write, writes=True)
        if scope in self._heard:
            at, standing = self._heard[scope]
            self._heard[scope] = (at, replace(standing, throttled_until=later))

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _hear(self, scope: str, standing: Standing) -> Standing:
        self._heard[scope] = (self._host.boottime(), standing)
        return standing

    def _there(self, connection: apsw.Connection, scope: str) -> _Row:
        found: Any = connection.execute(_THERE, (scope, self._host.boot_id)).fetchall()
        return found[0] if found else _NOBODY_WROTE

    def _put(self, connection: apsw.Connection, scope: str, row: _Row) -> None:
        connection.execute("REPLACE INTO breakers VALUES (?, ?, ?, ?, ?)", (scope, self._host.boot_id, *row))

    async def _within(self, work: Callable[[apsw.Connection], _T], *, writes: bool = False) -> _T:
        """Do `work`: one statement, or, if it `writes`, one transaction.

        Raises:
            BreakerStoreAway: the file cannot be had.
        """
        loop = asyncio.get_running_loop()
        if loop.time() < self._away_until:
            raise BreakerStoreAway
        give_up_at = loop.time() + self._wait_s
        while True:
            try:
                connection = self._connection = self._connection or open_side_file(self._path, _SCHEMA)
                return _transacted(connection, work) if writes else work(connection)
            except (apsw.BusyError, apsw.LockedError) as busy:
                if loop.time() >= give_up_at:
                    self._away_until = loop.time() + _AWAY_S
                    raise BreakerStoreAway from busy
            except (apsw.Error, OSError) as error:
                if not self._said:
                    _log.error("breakers are kept by this process alone: %s: %s", str(self._path), type(error).__name__)
                    self._said = True
                self.close()
                self._away_until = loop.time() + _AWAY_S
                raise BreakerStoreAway from error
            await asyncio.sleep(_RETRY_S)


def _transacted(connection: apsw.Connection, work: Callable[[apsw.Connection], _T]) -> _T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return done
