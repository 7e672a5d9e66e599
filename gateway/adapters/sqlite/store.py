"""The operation store on one SQLite file: durable, shared by the processes of one host, sealed when a key is given."""

import asyncio
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar

import apsw

from gateway.adapters.sqlite import approvals, care, changes, pins, queries
from gateway.adapters.sqlite.care import Care
from gateway.adapters.sqlite.host import Host, this_host
from gateway.adapters.sqlite.opening import OpenFile, open_file
from gateway.adapters.sqlite.rows import RowBuffer
from gateway.adapters.sqlite.wall import WallClock
from gateway.adapters.sqlite.writer import Writer
from gateway.at_rest import codec
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.approval.ports import ApprovalFilter
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.operation.ports import (
    Change,
    Commit,
    OperationFilter,
    PinnedManifest,
    RowFilter,
    Snapshot,
    StoreUnavailableError,
)
from gateway.stages.execute.operation.record import Hold, Record

_T = TypeVar("_T")

# A loop that is busy gives its lock up for an instant with every poll, which starts a waiting thread's 5 ms anew:
# with Python's own interval the committer waits 150 ms and more.
_SWITCH_INTERVAL_S: Final = 1e-4
_RETRY_S: Final = 0.001


class SqliteOperationStore:
    """An `OperationStore`. Open it with `open`; everything else belongs to one event loop."""

    durable: Final = True
    caveats: Final = ()

    def __init__(
        self, file: OpenFile, host: Host, sealer: Sealer, *, wait_s: float, rows_retention_s: float | None
    ) -> None:
        self._file = file
        self._host = host
        self._sealer = sealer
        self._wait_s = wait_s
        self._rows_retention_s = rows_retention_s
        self._wall = WallClock(host, file.reading)
        self._writer = Writer(
            file.writing,
            wait_s=wait_s,
            stamp=self._wall.stamp,
            usable=self._require_in_place,
            durable=self._tell_witness,
        )
        self._rows = RowBuffer(self._writer)
        self._digests = HoldDigests(file.hold_secret)
        self._applier = changes.Applier(sealer=sealer, digests=self._digests)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        host: Host | None = None,
        sealer: Sealer | None = None,
        wait_s: float = 2.0,
        rows_retention_s: float | None = None,
        accept_host: bool = False,
    ) -> Self:
        """Open or create the file; also shortens the interpreter's switch interval to 0.1 ms.

        Args:
            sealer: `Sealer.parse` of the seal key setting; None seals nothing.
            wait_s: how long a transition may wait for other processes' writes.
            rows_retention_s: `forget` deletes execution rows older than this; None keeps them.
            accept_host: the file was moved here from another machine on purpose.

        Raises:
            StoreRefusedError: the file must not be used; see `opening.open_file`.
            SealError: a key that sealed what is in it is missing or another one.
        """
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_INTERVAL_S))
        host = host or this_host()
        sealer = sealer or Sealer()
        file = open_file(path, host, sealer, accept_host=accept_host)
        return cls(file, host, sealer, wait_s=wait_s, rows_retention_s=rows_retention_s)

    @property
    def host(self) -> Host:
        """The machine whose clocks the store goes by."""
        return self._host

    def beside(self, name: str) -> Path:
        """The path of another file that belongs to this one."""
        return self._file.path.with_name(f"{self._file.path.name}-{name}")

    def __repr__(self) -> str:
        return f"<SqliteOperationStore {self._file.path} {self._writer!r}>"

    @property
    def epoch(self) -> str:
        return self._file.epoch

    @property
    def changed_at(self) -> float | None:
        return self._file.changed_at

    @property
    def commits(self) -> int:
        """How many transactions this process has made durable."""
        return self._writer.commits

    def now(self) -> float:
        return self._host.boottime()

    def wall(self) -> float:
        return self._wall.now()

    def wall_as_of(self, stamp: float) -> float:
        return self._wall.as_of(stamp)

    def clock_stepped_back(self) -> bool:
        return self._wall.stepped_back()

    async def look(self, tenant: str, identity_keys: Sequence[str], holds: Sequence[Hold] = ()) -> Snapshot:
        def read(connection: apsw.Connection) -> Snapshot:
            now = self.now()
            found, holders = queries.met(connection, tenant, identity_keys, holds, self._digests, self._sealer)
            return Snapshot(now=now, changed_at=self.changed_at, occurrences=found, holders=holders)

        return await self._read(read)

    async def commit(self, change: Change) -> Commit:
        prepared = changes.prepare(change, self._sealer)
        return await self._write(lambda connection: self._applier.apply(connection, prepared, self.now()))

    async def append_rows(self, rows: Sequence[ExecutionRow], *, strict: bool = False) -> None:
        values = tuple(codec.row_values(row) for row in rows)
        if strict:
            await self._write(lambda connection: changes.append_rows(connection, values))
        else:
            self._rows.add(values)

    async def by_operation_id(self, tenant: str, operation_id: str) -> Record | None:
        found = await self._read(
            lambda connection: queries.record_by_operation_id(connection, operation_id, self._sealer)
        )
        return found if found is not None and found.origin.tenant == tenant else None

    async def by_key(self, tenant: str, key: str) -> Record | None:
        found = await self._read(lambda connection: queries.record_by_key(connection, key, self._sealer))
        return found if found is not None and found.origin.tenant == tenant else None

    async def list_operations(self, query: OperationFilter) -> tuple[Record, ...]:
        return await self._read(lambda connection: queries.operations(connection, query, self._sealer))

    async def list_rows(self, query: RowFilter) -> tuple[ExecutionRow, ...]:
        return await self._read(lambda connection: queries.rows(connection, query))

    async def settled_results(self, tenant: str, tool: str, since_wall: float, limit: int) -> tuple[Record, ...]:
        return await self._read(
            lambda connection: queries.settled(connection, tenant, tool, since_wall, limit, self._sealer)
        )

    async def lease_due(self, token: str, lease_s: float, limit: int) -> tuple[Record, ...]:
        if not await self._read(lambda connection: care.any_due(connection, self.now())):
            return ()

        def lease(connection: apsw.Connection) -> tuple[Record, ...]:
            now = self.now()
            return care.lease_due(connection, Care(token=token, until=now + lease_s), now, limit, self._sealer)

        return await self._write(lease)

    async def lease_one(self, tenant: str, key: str, token: str, lease_s: float) -> bool:
        def lease(connection: apsw.Connection) -> bool:
            now = self.now()
            return care.lease_one(connection, tenant, key, Care(token=token, until=now + lease_s), now)

        return await self._write(lease)

    async def release(self, tenant: str, key: str, token: str, next_look_s: float) -> None:
        await self._write(lambda connection: care.release(connection, tenant, key, token, self.now() + next_look_s))

    async def forget(
        self, *, retention_s: float, operation_id: str | None = None, tools: Collection[str] | None = None
    ) -> int:
        if operation_id is not None:
            return await self._write(lambda connection: _forget_one(connection, operation_id))
        until = self._wall.before(retention_s)
        forgotten = 0
        while count := await self._write(lambda connection: care.forget_settled(connection, until, tools)):
            forgotten += count
        if self._rows_retention_s is not None:
            rows_until = self._wall.before(self._rows_retention_s)
            while await self._write(lambda connection: care.prune_rows(connection, rows_until)):
                pass
        return forgotten

    async def approval(self, tenant: str, approval_id: str) -> Approval | None:
        return await self._read(lambda connection: approvals.by_id(connection, tenant, approval_id, self._sealer))

    async def approval_for(self, tenant: str, action_hash: str) -> Approval | None:
        return await self._read(lambda connection: approvals.latest(connection, tenant, action_hash, self._sealer))

    async def list_approvals(self, query: ApprovalFilter) -> tuple[Approval, ...]:
        return await self._read(lambda connection: approvals.matching(connection, query, self._sealer))

    async def lapsed_approvals(self, wall: float, limit: int) -> tuple[Approval, ...]:
        return await self._read(lambda connection: approvals.lapsed(connection, wall, limit, self._sealer))

    async def forget_approvals(self, *, retention_s: float, tool: str | None = None) -> int:
        until, forgotten = self._wall.before(retention_s), 0
        while count := await self._write(lambda connection: approvals.forget(connection, until, tool)):
            forgotten += count
        return forgotten

    async def pin(self, manifests: Sequence[PinnedManifest]) -> None:
        await self._write(lambda connection: pins.keep(connection, manifests, self.wall()))

    async def pinned(self) -> tuple[PinnedManifest, ...]:
        return await self._read(pins.kept)

    async def pins(self) -> int:
        return await self._read(pins.count)

    async def tools_kept(self) -> tuple[str, ...]:
        return await self._read(care.tools_kept)

    async def count_unknown(self) -> dict[str, tuple[int, float]]:
        return await self._read(lambda connection: queries.unknown(connection, self.wall()))

    async def check(self) -> None:
        await self._write(lambda _: None)

    async def close(self) -> None:
        try:
            await self._rows.flush()
        except BaseException:
            await self._let_go()
            raise
        await self._let_go()

    async def _let_go(self) -> None:
        await self._writer.close()
        self._file.reading.close()
        self._file.writing.close()
        self._file.witness.close()

    def _require_in_place(self) -> None:
        """Write nothing into a file that its path does not lead to any more: nobody would find it there again."""
        try:
            inode = self._file.path.stat().st_ino
        except OSError as error:
            raise StoreUnavailableError(f"{self._file.path} cannot be looked at: {error.strerror}") from error
        if inode != self._file.inode:
            raise StoreUnavailableError(f"{self._file.path} is another file than the one that was opened")

    def _tell_witness(self) -> None:
        self._file.witness.tell(self._file.epoch, self._wall.largest)

    async def _write(self, work: Callable[[apsw.Connection], _T]) -> _T:
        result: _T = await self._writer.submit(work)
        return result

    async def _read(self, work: Callable[[apsw.Connection], _T]) -> _T:
        """Read through the second connection, which sees nothing that is not durable."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._wait_s
        while True:
            try:
                return work(self._file.reading)
            except (apsw.BusyError, apsw.LockedError) as error:
                if loop.time() >= give_up_at:
                    raise StoreUnavailableError(f"the file has been locked for {self._wait_s} s") from error
            except apsw.Error as error:
                raise StoreUnavailableError(f"{type(error).__name__}: {error}") from error
            await asyncio.sleep(_RETRY_S)


def _forget_one(connection: apsw.Connection, operation_id: str) -> int:
    forgotten = care.forget_one(connection, operation_id)
    if forgotten:
        approvals.forget_operation(connection, operation_id)
    return forgotten
