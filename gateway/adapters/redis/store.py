"""The operation store on Redis or Valkey: shared by gateways on many hosts, sealed when a key is given."""

import logging
from collections.abc import Awaitable, Collection, Sequence
from typing import Any, Final

from gateway.adapters.redis import changes, records
from gateway.adapters.redis.approvals import Approvals, decode
from gateway.adapters.redis.client import Client
from gateway.adapters.redis.lists import Lists
from gateway.adapters.redis.memory import PIECE, Memory, Reply, Tenant, shared_key
from gateway.adapters.redis.pins import Pins
from gateway.adapters.redis.rows import RowBuffer
from gateway.adapters.redis.wall import WallClock
from gateway.at_rest.sealing import Sealer
from gateway.clock import Clock
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.approval.ports import ApprovalFilter, ApprovalOvertaken
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.operation.ports import (
    Applied,
    Change,
    Commit,
    HeldBy,
    OperationFilter,
    PinnedManifest,
    RowFilter,
    Snapshot,
    Stale,
    StoreUnavailableError,
)
from gateway.stages.execute.operation.record import Hold, Record

_log = logging.getLogger("oncegate")
_UNLOGGED: Final = (
    "The store's server logs nothing on disk (appendonly): what it has acknowledged is gone when it ends."
)


class RedisOperationStore:
    """An `OperationStore`. It connects when it is first asked; everything belongs to one event loop."""

    durable: Final = True

    def __init__(
        self,
        client: Client,
        clock: Clock,
        *,
        sealer: Sealer | None = None,
        rows_retention_s: float | None = None,
        replicas: int = 0,
    ) -> None:
        """Make one on a client.

        Args:
            sealer: `Sealer.parse` of the seal key setting; None seals nothing.
            rows_retention_s: `forget` deletes execution rows older than this; None keeps them.
            replicas: how many must have a SENT mark before its gate is passed.
        """
        self._is_logged = True
        self._client = client
        self._sealer = sealer or Sealer()
        self._rows_retention_s = rows_retention_s
        self._replicas = replicas
        self._wall = WallClock(clock, client.clock.now)
        self._memory = Memory(client, self._sealer, self._wall.learn)
        self._lists = Lists(self._memory, self._sealer)
        self._approvals = Approvals(self._memory, self._ask, self._sealer)
        self._rows = RowBuffer(self._append)
        self._pins = Pins(client, self._memory)
        self._closed = False
        # Asked fifteen times a write.
        self.now: Final = client.clock.now
        self.wall: Final = self._wall.now
        self.wall_as_of: Final = self._wall.as_of

    def __repr__(self) -> str:
        return f"<RedisOperationStore {self._memory!r}, {len(self._rows)} rows waiting>"

    @property
    def client(self) -> Client:
        """What it asks with; what else is on the same servers asks with it, too."""
        return self._client

    @property
    def caveats(self) -> tuple[str, ...]:
        return (*(() if self._is_logged else (_UNLOGGED,)), *self._client.caveats)

    @property
    def epoch(self) -> str:
        return self._memory.epoch

    @property
    def changed_at(self) -> float | None:
        return self._memory.changed_at

    def clock_stepped_back(self) -> bool:
        return self._wall.stepped_back()

    async def look(self, tenant: str, identity_keys: Sequence[str], holds: Sequence[Hold] = ()) -> Snapshot:
        known = self._memory.known(tenant) or await self._memory.tenant(tenant)
        changed_at = self._memory.changed_at  # before it is asked: the memory may change while it is
        digests = [known.digests.of(hold).hex() for hold in holds]
        reply = await self._ask(known, "look", len(identity_keys), *identity_keys, *digests)
        found = records.decode_many(reply.values[0], tenant, self._sealer)
        for record in found:
            records.own(record, record.identity_key in identity_keys)
        stand = records.decode_holders(reply.values[1], holds, tenant, self._sealer)
        return Snapshot(now=reply.now, changed_at=changed_at, occurrences=found, holders=stand)

    async def commit(self, change: Change) -> Commit:
        name = changes.tenant_of(change)
        after = change.after
        if after is None and change.approval is not None:
            return await self._approvals.move(change.approval, change.rows)
        if after is None or name is None:
            if name is not None:
                await self._append(name, change.rows)
            return Applied()
        # Digests are made with the secret of the memory that is asked: in another they would match no hold.
        tenant = self._memory.known(name) or await self._memory.tenant(name)
        if change.before is None and self._pins.are_lost():
            # In another memory no record may name a manifest that is not pinned there.
            await self._pins.keep((), wall=self.wall())
            tenant = await self._memory.tenant(name)
        prepared = changes.prepare(change, after, tenant, self._sealer)
        replicas = self._replicas if prepared.sends else 0
        reply = await self._ask(tenant, "commit", *prepared.arguments, replicas=replicas)
        match reply.status:
            case "applied":
                return Applied()
            case "held":
                return self._held(reply, prepared.checked, name)
            case "overtaken":
                return ApprovalOvertaken(decode(reply.values[0], name, self._sealer))
            case _:
                current = self._record(reply.values[0], name, key=after.key)
        if current is not None and current == after:
            # Sent twice: the reply to the first was lost.
            if change.rows:
                await self._append(name, change.rows)
            return Applied()
        return Stale(current)

    def _held(self, reply: Reply, checked: Sequence[Hold], tenant: str) -> HeldBy:
        number, fields = reply.values
        holder = records.decode(fields, tenant, self._sealer)
        if holder is None:
            raise records.ForeignRecordError("a hold belongs to a record that is not there")
        return HeldBy(checked[number - 1], holder)

    async def append_rows(self, rows: Sequence[ExecutionRow], *, strict: bool = False) -> None:
        self._open()
        if not strict:
            self._rows.add(rows)
            return
        for tenant in {row.tenant: None for row in rows}:
            await self._append(tenant, [row for row in rows if row.tenant == tenant])

    async def by_operation_id(self, tenant: str, operation_id: str) -> Record | None:
        reply = await self._ask(tenant, "find", "id", operation_id)
        found: Record | None = self._record(reply.values[0], tenant) if reply.values else None
        return found if found is None else records.own(found, found.operation_id == operation_id)

    async def by_key(self, tenant: str, key: str) -> Record | None:
        reply = await self._ask(tenant, "find", "key", key)
        return self._record(reply.values[0], tenant, key=key)

    async def list_operations(self, query: OperationFilter) -> tuple[Record, ...]:
        return await self._lists.operations(query, self.wall())

    async def list_rows(self, query: RowFilter) -> tuple[ExecutionRow, ...]:
        found: list[ExecutionRow] = []
        if query.limit > 0:
            async for row in self._lists.rows(query, self.wall()):
                found.append(row)
                if len(found) == query.limit:
                    break
        return tuple(found)

    async def settled_results(self, tenant: str, tool: str, since_wall: float, limit: int) -> tuple[Record, ...]:
        reply = await self._ask(tenant, "settled", tool, since_wall, limit)
        return records.decode_many(reply.values[0], tenant, self._sealer)

    async def lease_due(self, token: str, lease_s: float, limit: int) -> tuple[Record, ...]:
        found: list[Record] = []
        for tenant in await self._memory.names_in_turn():
            if len(found) < limit:
                reply = await self._ask(tenant, "lease_due", token, lease_s, limit - len(found))
                found += records.decode_openable(reply.values[0], tenant, self._sealer)
        return tuple(found)

    async def lease_one(self, tenant: str, key: str, token: str, lease_s: float) -> bool:
        return (await self._ask(tenant, "lease_one", key, token, lease_s)).status == "ok"

    async def release(self, tenant: str, key: str, token: str, next_look_s: float) -> None:
        await self._ask(tenant, "release", key, token, next_look_s)

    async def forget(
        self, *, retention_s: float, operation_id: str | None = None, tools: Collection[str] | None = None
    ) -> int:
        forgotten = 0
        for tenant in await self._memory.names():
            if operation_id is not None:
                forgotten += await self._forget_one(tenant, operation_id)
                continue
            until = self._wall.before(retention_s)
            while count := _count(
                await self._ask(tenant, "forget", "old", until, PIECE, int(tools is not None), *(tools or ()))
            ):
                forgotten += count
            if self._rows_retention_s is not None:
                await self._ask(tenant, "prune", int(self._wall.before(self._rows_retention_s) * 1000))
        return forgotten

    async def approval(self, tenant: str, approval_id: str) -> Approval | None:
        return await self._approvals.by_id(tenant, approval_id)

    async def approval_for(self, tenant: str, action_hash: str) -> Approval | None:
        return await self._approvals.latest(tenant, action_hash)

    async def list_approvals(self, query: ApprovalFilter) -> tuple[Approval, ...]:
        return await self._approvals.matching(query)

    async def lapsed_approvals(self, wall: float, limit: int) -> tuple[Approval, ...]:
        return await self._approvals.lapsed(wall, limit)

    async def forget_approvals(self, *, retention_s: float, tool: str | None = None) -> int:
        return await self._approvals.forget(self._wall.before(retention_s), tool)

    async def pin(self, manifests: Sequence[PinnedManifest]) -> None:
        self._open()
        await self._pins.keep(manifests, wall=self.wall())

    async def pinned(self) -> tuple[PinnedManifest, ...]:
        self._open()
        return await self._pins.keep((), wall=self.wall())

    async def pins(self) -> int:
        self._open()
        return await self._pins.count()

    async def tools_kept(self) -> tuple[str, ...]:
        kept = [await self._ask(tenant, "count") for tenant in await self._memory.names()]
        return tuple(sorted({tool.decode() for reply in kept for tool in reply.values[1]}))

    async def count_unknown(self) -> dict[str, tuple[int, float]]:
        counted: dict[str, tuple[int, float]] = {}
        for tenant in await self._memory.names():
            for name, count, oldest in (await self._ask(tenant, "count")).values[0]:
                known, age_s = counted.get(name.decode(), (0, 0.0))
                counted[name.decode()] = (known + count, max(age_s, self.wall() - float(oldest)))
        return counted

    async def check(self) -> None:
        self._open()
        await self._client.require_no_eviction()
        self._is_logged = await self._client.are_logged()
        await self._client.ask("check", shared_key("check"))

    async def close(self) -> None:
        self._closed = True
        try:
            await self._rows.flush()
        except StoreUnavailableError as error:
            _log.error("%d execution rows are lost: %s", len(self._rows), str(error))
        self._rows.stop()
        self._client.close()

    def _open(self) -> None:
        if self._closed:
            raise StoreUnavailableError("the store is closed")

    def _ask(self, tenant: str | Tenant, name: str, *values: Any, replicas: int = 0) -> Awaitable[Reply]:
        self._open()
        return self._memory.ask(tenant, name, values, wall=self.wall(), replicas=replicas)

    async def _append(self, tenant: str, rows: Sequence[ExecutionRow]) -> None:
        await self._memory.ask(tenant, "rows", (len(rows), *records.row_values(rows)), wall=self.wall())

    async def _forget_one(self, tenant: str, operation_id: str) -> int:
        """Bury one settled operation, and drop what it was approved with."""
        record = await self.by_operation_id(tenant, operation_id)
        forgotten = _count(await self._ask(tenant, "forget", "id", operation_id, 1, 0))
        if forgotten and record is not None and record.approval_id is not None:
            await self._approvals.forget_one(tenant, record.approval_id)
        return forgotten

    def _record(self, fields: Any, tenant: str, *, key: str | None = None) -> Record | None:
        record = records.decode(fields, tenant, self._sealer)
        return record if record is None or key is None else records.own(record, record.key == key)


def _count(reply: Reply) -> int:
    return int(reply.values[0])
