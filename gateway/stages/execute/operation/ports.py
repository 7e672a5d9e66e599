"""The door through which records are kept. One conformance suite holds every store to it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.contract.execution import ExecutionRow
from gateway.contract.quick import quick
from gateway.stages.execute.approval.ports import ApprovalChange, ApprovalOvertaken, ApprovalStore
from gateway.stages.execute.operation.record import Hold, Record, State


class StoreUnavailableError(Exception):
    """The store cannot be reached or did not answer in time. Nothing may be sent on the strength of it."""


class StoreUnfitError(StoreUnavailableError):
    """It answers, and must not be used as it is: somebody has to change its settings, or ours. One sentence."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What stands in the store about one intention, read at one moment.

    Attributes:
        now: the store's clock, seconds.
        changed_at: `OperationStore.changed_at` when this was asked for. Where it is another by now, what is read here may be
            another memory's, and proves nothing of this one.
        occurrences: every kept record of the identity (tombstones included), oldest occurrence first.
        holders: who stands on the asked holds now.
    """

    now: float
    changed_at: float | None
    occurrences: tuple[Record, ...]
    holders: tuple[tuple[Hold, Record], ...]


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One transition with everything that belongs to it: applied whole, durably, or not at all.

    Attributes:
        before: the record the change was made from; None to insert a new one.
        after: the record as it becomes; None when only rows are appended.
        not_after: store clock: do not apply at or after this moment (the lease's end, for the gate).
        rows: appended in the same transaction.
        approval: the move of an approval that belongs to it; with `after` None, the whole change.

    The store keeps the hold entries equal to `after.standing_holds()` in the same transaction, and applies no change
    that marks a new attempt SENT while one of them belongs to another record. Evidence is never kept out by a hold: a
    late contradiction freezes its record beside whoever stands there by now.
    """

    before: Record | None = None
    after: Record | None = None
    not_after: float | None = None
    rows: tuple[ExecutionRow, ...] = ()
    approval: ApprovalChange | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """Durable. A second sending of the same change also says so."""


@dataclass(frozen=True, slots=True)
class Stale:
    """Somebody changed the record first (or inserted it, or `not_after` has passed). Nothing was applied."""

    current: Record | None


@dataclass(frozen=True, slots=True)
class HeldBy:
    """Another record stands on one of the holds. Nothing was applied."""

    hold: Hold
    holder: Record


Commit = Applied | Stale | HeldBy | ApprovalOvertaken


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFilter:
    """Which records `list_operations` gives, newest first: of one tenant."""

    tenant: str
    states: frozenset[State] | None = None
    run_id: str | None = None
    subject: str | None = None
    tool: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """Which execution rows `list_rows` gives, newest first."""

    tenant: str
    subject: str | None = None
    run_id: str | None = None
    tool: str | None = None
    code: str | None = None
    operation_id: str | None = None
    trace_id: str | None = None
    since_wall: float | None = None
    limit: int = 100

    def matches(self, row: ExecutionRow) -> bool:
        """Whether a row is asked for. What is None is anything."""
        return (
            self.tenant == row.tenant
            and self.subject in (None, row.subject)
            and self.run_id in (None, row.run_id)
            and self.tool in (None, row.tool)
            and self.code in (None, row.code)
            and self.operation_id in (None, row.operation_id)
            and self.trace_id in (None, row.trace_id)
            and (self.since_wall is None or row.at_wall >= self.since_wall)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedManifest:
    """A manifest that records were made with. `canonical` is its JSON, with secrets only named."""

    digest: str
    tool: str
    operation: str
    revision: int
    canonical: bytes


class OperationStore(ApprovalStore, Protocol):
    """Keeps records, their hold entries, approvals and execution rows.

    Values go in and come out by copy. Every method raises StoreUnavailableError when the store is away. The rows of a
    change belong to its record's tenant: tenants are apart, and may live in different places.
    """

    @property
    def durable(self) -> bool:
        """Whether an applied change survives the death of every process."""
        ...

    @property
    def caveats(self) -> tuple[str, ...]:
        """What an operator must know of what it may forget, as far as it has been asked: a sentence each."""
        ...

    @property
    def epoch(self) -> str:
        """Names this store's memory: another epoch may have forgotten what an earlier one knew."""
        ...

    @property
    def changed_at(self) -> float | None:
        """When (store's clock) this memory was last found to be another than before, and may have forgotten what was
        sent until then. None: never, as far as anybody knows. While it stays the same, so does the memory.
        """
        ...

    def now(self) -> float:
        """The store's clock, seconds. Never steps back; on one host equal for all processes."""
        ...

    def wall(self) -> float:
        """Wall clock, seconds, never earlier than the largest time already stored."""
        ...

    def wall_as_of(self, stamp: float) -> float:
        """The wall clock as it counts for what was stamped at `stamp`: less what it was set forward by since."""
        ...

    def clock_stepped_back(self) -> bool:
        """Whether the wall clock stands over 5 s before the largest time stored: no replay then."""
        ...

    async def look(self, tenant: str, identity_keys: Sequence[str], holds: Sequence[Hold] = ()) -> Snapshot:
        """Everything kept of a tenant about an identity (also under the keys of an earlier revision), and who stands
        on `holds`.
        """
        ...

    async def commit(self, change: Change) -> Commit:
        """Apply one change: durable before this returns. Idempotent under re-sending."""
        ...

    async def append_rows(self, rows: Sequence[ExecutionRow], *, strict: bool = False) -> None:
        """Keep rows of calls that changed no record. Durable within 50 ms, or before returning when `strict`."""
        ...

    async def by_operation_id(self, tenant: str, operation_id: str) -> Record | None:
        """The tenant's record of this id."""
        ...

    async def by_key(self, tenant: str, key: str) -> Record | None:
        """The tenant's record of this operation key."""
        ...

    async def list_operations(self, query: OperationFilter) -> tuple[Record, ...]:
        """Records, newest first."""
        ...

    async def list_rows(self, query: RowFilter) -> tuple[ExecutionRow, ...]:
        """Execution rows, newest first."""
        ...

    async def settled_results(self, tenant: str, tool: str, since_wall: float, limit: int) -> tuple[Record, ...]:
        """DONE records of one tool with their bodies, settled at or after `since_wall`, the latest first: what look-up
        candidates may already be attributed to. Behind them, beyond `limit`, the tombstone that was settled last, if
        that was since then: what it did has no identifier any more.
        """
        ...

    async def lease_due(self, token: str, lease_s: float, limit: int) -> tuple[Record, ...]:
        """Records in need of care, leased to the sweeper `token` for `lease_s`: owned ones with a dead lease, and
        UNKNOWN ones whose next look is due. No record is leased to two at once.
        """
        ...

    async def lease_one(self, tenant: str, key: str, token: str, lease_s: float) -> bool:
        """Lease one record for reconciliation now, due or not; anew for `token`, which may have it already.

        False: somebody else reconciles it, or there is none.
        """
        ...

    async def release(self, tenant: str, key: str, token: str, next_look_s: float) -> None:
        """End a reconciliation lease; the record is due again `next_look_s` from now, if it is still UNKNOWN."""
        ...

    async def forget(
        self, *, retention_s: float, operation_id: str | None = None, tools: Collection[str] | None = None
    ) -> int:
        """Drop the bodies of records settled longer than `retention_s` ago: tombstones stay. Returns how many.

        Args:
            operation_id: only of this one, at once, and what its approval shows of it.
            tools: only of these; None: of all.
        """
        ...

    async def pin(self, manifests: Sequence[PinnedManifest]) -> None:
        """Keep manifests for the records that name their digest. Durable before this returns."""
        ...

    async def pinned(self) -> tuple[PinnedManifest, ...]:
        """Every pinned manifest, the earliest first."""
        ...

    async def pins(self) -> int:
        """How many manifests are pinned: more than before when another process pinned one."""
        ...

    async def tools_kept(self) -> tuple[str, ...]:
        """Names of the tools that settled records with bodies are of."""
        ...

    async def count_unknown(self) -> dict[str, tuple[int, float]]:
        """Per tool: how many operations are in doubt, and the age of the oldest in seconds."""
        ...

    async def check(self) -> None:
        """Raise StoreUnavailableError unless a write would be possible now."""
        ...

    async def close(self) -> None:
        """Make everything accepted durable and let go."""
        ...
