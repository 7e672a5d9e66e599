"""The operation store of tests: nothing outlives the process. Values are copied in and out, as a real store does."""

import asyncio
import copy
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from gateway.adapters.memory.approvals import Approvals
from gateway.adapters.memory.care import Care
from gateway.adapters.memory.filters import matches
from gateway.at_rest.wall_steps import WallSteps
from gateway.clock import Clock
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.approval.ports import ApprovalFilter
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
from gateway.stages.execute.operation.record import ENDED, IN_DOUBT, Bodies, Hold, Record, State, is_send, leads_on

_STEP_S: Final = 5.0


class MemoryOperationStore:
    """An `OperationStore` that forgets everything with its process. Belongs to one event loop."""

    durable: Final = False
    caveats: Final = ("The store forgets everything when this process ends.",)
    changed_at: Final = None

    def __init__(self, clock: Clock, *, rows_retention_s: float | None = None) -> None:
        """`rows_retention_s`: `forget` deletes execution rows older than this; None keeps them."""
        self._clock = clock
        self._rows_retention_s = rows_retention_s
        self._epoch = secrets.token_hex(16)
        self._largest_wall = 0.0
        self._steps = WallSteps()
        self._records: dict[str, Record] = {}
        self._care = Care()
        self._approvals = Approvals()
        self._rows: dict[str, ExecutionRow] = {}
        self._pins: dict[str, PinnedManifest] = {}
        self._closed = False

    def __repr__(self) -> str:
        return f"<MemoryOperationStore {len(self._records)} records, {len(self._rows)} rows>"

    @property
    def epoch(self) -> str:
        return self._epoch

    def now(self) -> float:
        return self._clock.monotonic()

    def wall(self) -> float:
        wall = max(self._clock.wall(), self._largest_wall)
        self._steps.look(wall, self._clock.monotonic())
        return wall

    def wall_as_of(self, stamp: float) -> float:
        wall = self.wall()
        return wall - self._steps.since(stamp)

    def _before(self, age_s: float) -> float:
        wall = self.wall()
        return self._steps.before(wall, age_s)

    def clock_stepped_back(self) -> bool:
        return self._largest_wall - self._clock.wall() > _STEP_S

    async def look(self, tenant: str, identity_keys: Sequence[str], holds: Sequence[Hold] = ()) -> Snapshot:
        await self._turn()
        occurrences = [r for r in self._of(tenant) if r.identity_key in identity_keys]
        holders = [(hold, record) for hold in holds for record in self._standing_on(hold)]
        return Snapshot(
            now=self.now(),
            changed_at=self.changed_at,
            occurrences=_copies(occurrences),
            holders=tuple((hold, _copy(record)) for hold, record in holders),
        )

    async def commit(self, change: Change) -> Commit:
        before, after = change.before, change.after
        if before is not None and after is not None and not leads_on(before, after):
            raise ValueError(f"{before!r} cannot become {after!r}")
        kept = None if after is None else _copy(after)
        await self._write()
        asked = change.approval
        if kept is None:
            if asked is not None and not self._approvals.holds(asked):
                if overtaken := self._approvals.refusal(asked):
                    return overtaken
                self._approvals.keep(asked)
            self._append(change.rows)
            return Applied()
        current = self._records.get(kept.key)
        if current is not None and current == kept:
            self._append(change.rows)
            return Applied()
        expected = None if before is None else before.version
        expired = change.not_after is not None and self.now() >= change.not_after
        if expired or (None if current is None else current.version) != expected:
            return Stale(None if current is None else _copy(current))
        if refused := self._held(before, kept) or (None if asked is None else self._approvals.refusal(asked)):
            return refused
        if asked is not None:
            self._approvals.keep(asked)
        self._records[kept.key] = kept
        self._care.follow(kept, current, self.now())
        self._append(change.rows)
        return Applied()

    async def append_rows(self, rows: Sequence[ExecutionRow], *, strict: bool = False) -> None:
        await self._write()
        # Strict or not: there is nothing here that a row could be made durable in.
        del strict
        self._append(rows)

    async def by_operation_id(self, tenant: str, operation_id: str) -> Record | None:
        await self._turn()
        return next((_copy(r) for r in self._of(tenant) if r.operation_id == operation_id), None)

    async def by_key(self, tenant: str, key: str) -> Record | None:
        await self._turn()
        found = self._records.get(key)
        return None if found is None or found.origin.tenant != tenant else _copy(found)

    async def list_operations(self, query: OperationFilter) -> tuple[Record, ...]:
        await self._turn()
        found = [record for record in reversed(self._records.values()) if matches(record, query)]
        return _copies(found[: query.limit])

    async def list_rows(self, query: RowFilter) -> tuple[ExecutionRow, ...]:
        await self._turn()
        found = [row for row in reversed(self._rows.values()) if query.matches(row)]
        return tuple(found[: query.limit])

    async def settled_results(self, tenant: str, tool: str, since_wall: float, limit: int) -> tuple[Record, ...]:
        await self._turn()
        asked = OperationFilter(tenant=tenant, tool=tool, states=frozenset({State.DONE}))
        done = [
            r for r in reversed(self._records.values()) if matches(r, asked) and (r.settled_wall or 0.0) >= since_wall
        ]
        latest = sorted(done, key=lambda it: it.settled_wall or 0.0, reverse=True)
        kept, buried = [it for it in latest if not it.tombstone], [it for it in latest if it.tombstone]
        return _copies([*kept[:limit], *buried[:1]])

    async def lease_due(self, token: str, lease_s: float, limit: int) -> tuple[Record, ...]:
        await self._write()
        due = self._care.due(self.now(), limit)
        for key in due:
            self._care.lease(key, token, self.now() + lease_s)
        return _copies(self._records[key] for key in due)

    async def lease_one(self, tenant: str, key: str, token: str, lease_s: float) -> bool:
        await self._write()
        record = self._records.get(key)
        if record is None or record.origin.tenant != tenant or not self._care.is_free(key, token, self.now()):
            return False
        self._care.lease(key, token, self.now() + lease_s)
        return True

    async def release(self, tenant: str, key: str, token: str, next_look_s: float) -> None:
        await self._write()
        record = self._records.get(key)
        if record is not None and record.origin.tenant == tenant:
            self._care.release(record, token, self.now() + next_look_s)

    async def forget(
        self, *, retention_s: float, operation_id: str | None = None, tools: Collection[str] | None = None
    ) -> int:
        await self._write()
        until = self._before(retention_s)
        forgotten = 0
        for record in list(self._records.values()):
            if record.state not in ENDED or record.tombstone or record.settled_wall is None:
                continue
            due = record.settled_wall <= until and (tools is None or record.origin.tool in tools)
            if record.operation_id == operation_id or (operation_id is None and due):
                self._records[record.key] = replace(
                    record, version=record.version + 1, bodies=Bodies(), holds=(), tombstone=True
                )
                forgotten += 1
        if operation_id is not None and forgotten:
            self._approvals.forget_operation(operation_id)
        if operation_id is None and self._rows_retention_s is not None:
            rows_until = self._before(self._rows_retention_s)
            self._rows = {row_id: row for row_id, row in self._rows.items() if row.at_wall > rows_until}
        return forgotten

    async def approval(self, tenant: str, approval_id: str) -> Approval | None:
        await self._turn()
        return self._approvals.get(tenant, approval_id)

    async def approval_for(self, tenant: str, action_hash: str) -> Approval | None:
        await self._turn()
        return self._approvals.latest(tenant, action_hash)

    async def list_approvals(self, query: ApprovalFilter) -> tuple[Approval, ...]:
        await self._turn()
        return self._approvals.matching(query)

    async def lapsed_approvals(self, wall: float, limit: int) -> tuple[Approval, ...]:
        await self._turn()
        return self._approvals.lapsed(wall, limit)

    async def forget_approvals(self, *, retention_s: float, tool: str | None = None) -> int:
        await self._write()
        return self._approvals.forget(self._before(retention_s), tool)

    async def pin(self, manifests: Sequence[PinnedManifest]) -> None:
        await self._write()
        self._pins = {**self._pins, **{it.digest: it for it in manifests if it.digest not in self._pins}}

    async def pinned(self) -> tuple[PinnedManifest, ...]:
        await self._turn()
        return tuple(self._pins.values())

    async def pins(self) -> int:
        await self._turn()
        return len(self._pins)

    async def tools_kept(self) -> tuple[str, ...]:
        await self._turn()
        kept = (r for r in self._records.values() if r.state in ENDED and not r.tombstone)
        return tuple(sorted({record.origin.tool for record in kept}))

    async def count_unknown(self) -> dict[str, tuple[int, float]]:
        await self._turn()
        ages: dict[str, list[float]] = {}
        for record in self._records.values():
            if record.state in IN_DOUBT:
                sent = min((a.sent_wall for a in record.unknown_attempts()), default=record.created_wall)
                ages.setdefault(record.origin.tool, []).append(max(0.0, self.wall() - sent))
        return {tool: (len(told), max(told)) for tool, told in ages.items()}

    async def check(self) -> None:
        await self._write()

    async def close(self) -> None:
        self._closed = True

    async def _turn(self) -> None:
        """Let others run, as they would while a real store is asked."""
        await asyncio.sleep(0)
        if self._closed:
            raise StoreUnavailableError("the store is closed")

    async def _write(self) -> None:
        await self._turn()
        self._largest_wall = self.wall()

    def _of(self, tenant: str) -> Iterable[Record]:
        return (record for record in self._records.values() if record.origin.tenant == tenant)

    def _standing_on(self, hold: Hold) -> list[Record]:
        return [record for record in self._records.values() if hold in record.standing_holds()]

    def _held(self, before: Record | None, after: Record) -> HeldBy | None:
        """Who else stands on a hold of a change that sends. Evidence is never kept out by a hold."""
        if not is_send(before, after):
            return None
        for hold in after.standing_holds():
            for holder in self._standing_on(hold):
                if holder.key != after.key:
                    return HeldBy(hold, _copy(holder))
        return None

    def _append(self, rows: Iterable[ExecutionRow]) -> None:
        for row in rows:
            self._rows.setdefault(row.row_id, row)


def _copies(records: Iterable[Record]) -> tuple[Record, ...]:
    return tuple(_copy(record) for record in records)


def _copy(record: Record) -> Record:
    """The arguments are the only part that somebody could still change."""
    arguments = copy.deepcopy(dict(record.bodies.arguments))
    return replace(record, bodies=replace(record.bodies, arguments=arguments))
