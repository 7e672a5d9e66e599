"""Rates and budgets that the processes on one store file count together, in a file beside it.

They are counters, not records: nothing is synced to the disk, so that a limited call costs no wait for it. What a power
failure takes is at most a bucket that is full again and a purse that is lighter. A file that it broke is made anew.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from gateway.adapters.sqlite.host import Host
from gateway.adapters.sqlite.side_file import open_side_file
from gateway.stages.execute.breaker.rate import Buckets, Quota, Taken, TokenBucket, take
from gateway.stages.execute.breaker.spending import KEPT_S, Purse, Purses, fits

_log = logging.getLogger("oncegate")
_T = TypeVar("_T")
_RETRY_S: Final = 0.001
_SWEEP_EVERY: Final = 1_000
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS buckets (
  partition TEXT, key TEXT, boot TEXT, tokens REAL, at REAL, full_at REAL, PRIMARY KEY (partition, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
  tenant TEXT, run TEXT, unit TEXT, call TEXT, amount REAL, at_wall REAL, PRIMARY KEY (tenant, run, unit, call)
) WITHOUT ROWID;
"""


# `rate.take` for one bucket, and no row where it has not as many tokens (?7): the price of a transaction is mostly that of its
# statements, and BEGIN, SELECT, REPLACE and COMMIT are four. A bucket of another boot is full.
_THERE: Final = "iif(boot = ?3, min(?4, tokens + max(0.0, ?5 - at) * ?4 / ?6), ?4)"
# Another process may have taken since the clock was read: its time is not to be had twice.
_AT: Final = "iif(boot = ?3, max(at, ?5), ?5)"
_TAKE_ONE: Final = f"""
INSERT INTO buckets VALUES (?1, ?2, ?3, ?4 - ?7, ?5, ?5 + ?6) ON CONFLICT (partition, key) DO UPDATE
  SET tokens = {_THERE} - ?7, boot = ?3, at = {_AT}, full_at = {_AT} + ?6 WHERE {_THERE} >= ?7
RETURNING tokens"""  # noqa: S608 - our own text


class SqliteLimits:
    """`SharedBuckets` and `Spending` of the processes of one host. The file is opened when a limit is first met."""

    def __init__(self, path: Path, host: Host, *, wait_s: float = 2.0) -> None:
        """`wait_s`: how long another process may keep the file from this one, which then counts alone."""
        self._path = path
        self._wait_s = wait_s
        self._host = host
        self.now = host.boottime
        self._connection: apsw.Connection | None = None
        self._buckets = Buckets()
        self._purses = Purses()
        self._until_sweep = _SWEEP_EVERY
        self._said = False

    def __repr__(self) -> str:
        return f"<SqliteLimits {self._path}>"

    async def take(self, quotas: Sequence[Quota], most: Sequence[int] = ()) -> Taken:
        alone = len(quotas) == 1
        taken = await self._tried(
            lambda it: self._take_one(it, quotas[0], most[0] if most else 1) if alone else self._take(it, quotas, most)
        )
        return taken or self._buckets.take(quotas, now=self._host.boottime())

    async def give(self, quotas: Sequence[Quota]) -> None:
        self._buckets.give(quotas)
        await self._tried(lambda it: self._give(it, quotas))

    async def reserve(self, purse: Purse, call: str, amount: float, most: float) -> float | None:
        told = await self._tried(lambda it: self._reserve(it, purse, call, amount, most))
        if told is None:
            return self._purses.reserve(purse, call, amount, most, now=self._host.boottime())
        return told[0]

    async def release(self, purse: Purse, call: str) -> None:
        self._purses.release(purse, call)
        sql = "DELETE FROM spent WHERE tenant = ? AND run = ? AND unit = ? AND call = ?"
        await self._tried(lambda it: [*it.execute(sql, (purse.tenant, purse.run_id, purse.unit, call))])

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _tried(self, work: Callable[[apsw.Connection], _T]) -> _T | None:
        """Do `work`, which is one transaction; None where the file cannot be had, for this process then counts alone."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._wait_s
        while True:
            try:
                connection = self._connection = self._connection or open_side_file(self._path, _SCHEMA)
                # Before: what is done once must not be done again because sweeping has to wait.
                self._sweep(connection)
                done = work(connection)
            except (apsw.BusyError, apsw.LockedError):
                if loop.time() >= give_up_at:
                    return None
                await asyncio.sleep(_RETRY_S)
            except (apsw.Error, OSError) as error:
                self._give_up(error)
                return None
            else:
                return done

    def _give_up(self, error: Exception) -> None:
        if not self._said:
            _log.error("limits are counted by this process alone: %s: %s", str(self._path), type(error).__name__)
            self._said = True
        self.close()

    def _take_one(self, connection: apsw.Connection, quota: Quota, most: int) -> Taken:
        """`_take` of the one quota that most calls have, in one statement as long as there is enough left."""
        rate, now = quota.rate, self._host.boottime()
        if most > rate.count:
            most = 1
        asked = (quota.partition, quota.key, self._host.boot_id, float(rate.count), now, rate.per_s, float(most))
        # To its end, which is when it commits.
        left: list[tuple[Any, ...]] = connection.execute(_TAKE_ONE, asked).fetchall()
        return Taken(tokens=left[0], counts=(most,)) if left else self._take(connection, (quota,), (most,))

    def _take(self, connection: apsw.Connection, quotas: Sequence[Quota], most: Sequence[int]) -> Taken:
        now, boot = self._host.boottime(), self._host.boot_id
        sql = "SELECT tokens, at FROM buckets WHERE partition = ? AND key = ? AND boot = ?"
        with _transaction(connection):
            found = [connection.execute(sql, (it.partition, it.key, boot)).fetchone() for it in quotas]
            buckets = [None if row is None else TokenBucket(*row) for row in found]
            after, taken = take(buckets, [it.rate for it in quotas], most, now=now)
            if taken.refused is None:
                written = [
                    (quota.partition, quota.key, boot, it.tokens, it.at, it.at + quota.rate.per_s)
                    for quota, it in zip(quotas, after, strict=True)
                ]
                connection.executemany("REPLACE INTO buckets VALUES (?, ?, ?, ?, ?, ?)", written)
        return taken

    def _give(self, connection: apsw.Connection, quotas: Sequence[Quota]) -> int:
        sql = "UPDATE buckets SET tokens = min(tokens + 1, ?) WHERE partition = ? AND key = ? AND boot = ?"
        back = [(it.rate.count, it.partition, it.key, self._host.boot_id) for it in quotas]
        with _transaction(connection):
            connection.executemany(sql, back)
        return len(back)

    def _reserve(
        self, connection: apsw.Connection, purse: Purse, call: str, amount: float, most: float
    ) -> tuple[float | None]:
        whose = (purse.tenant, purse.run_id, purse.unit)
        sql = "SELECT call, amount FROM spent WHERE tenant = ? AND run = ? AND unit = ?"
        with _transaction(connection):
            calls: list[tuple[Any, ...]] = connection.execute(sql, whose).fetchall()
            if any(name == call for name, _ in calls):
                return (None,)
            spent = sum(amount for _, amount in calls)
            if not fits(spent, amount, most):
                return (spent,)
            connection.execute("INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?)", (*whose, call, amount, self._host.wall()))
        return (None,)

    def _sweep(self, connection: apsw.Connection) -> None:
        self._until_sweep -= 1
        if self._until_sweep > 0:
            return
        self._until_sweep = _SWEEP_EVERY
        here = (self._host.boot_id, self._host.boottime())
        connection.execute("DELETE FROM buckets WHERE boot != ? OR full_at < ?", here)
        old = "SELECT tenant, run, unit FROM spent GROUP BY tenant, run, unit HAVING max(at_wall) < ?"
        connection.execute(f"DELETE FROM spent WHERE (tenant, run, unit) IN ({old})", (self._host.wall() - KEPT_S,))  # noqa: S608 - our own text


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
