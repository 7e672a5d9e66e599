"""The door through which approvals are kept: the same store as the records', for they move together."""

from dataclasses import dataclass
from typing import Protocol

from gateway.contract.call import Caller
from gateway.stages.execute.approval.record import Approval, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalChange:
    """One move of an approval. `before` is None to keep a new one: refused while another of its action is live."""

    before: Approval | None
    after: Approval


@dataclass(frozen=True, slots=True)
class ApprovalOvertaken:
    """Somebody changed the approval first, or another one of its action is live. Nothing was applied."""

    current: Approval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFilter:
    """Which approvals `list_approvals` gives, newest first: of `subject`, or of an action that `permissions` decide.

    `subject` None and no `permissions`: every one of the tenant.
    """

    tenant: str
    subject: str | None = None
    permissions: frozenset[str] = frozenset()
    statuses: frozenset[Status] | None = None
    run_id: str | None = None
    tool: str | None = None
    limit: int = 100


class Approvers(Protocol):
    """What is known of those who decide, at the moment of the question. No wait, no round trip."""

    def today(self, tenant: str, subject: str) -> tuple[Caller, ...] | None:
        """What each credential of a subject stands for now; none: it has none any more. None: nobody here can say."""
        ...


class ApprovalStore(Protocol):
    """Keeps approvals. `OperationStore.commit` changes them; every method raises StoreUnavailableError."""

    async def approval(self, tenant: str, approval_id: str) -> Approval | None:
        """The tenant's approval of this id."""
        ...

    async def approval_for(self, tenant: str, action_hash: str) -> Approval | None:
        """The newest approval of an action; with one that is live, that one."""
        ...

    async def list_approvals(self, query: ApprovalFilter) -> tuple[Approval, ...]:
        """Approvals, newest first."""
        ...

    async def lapsed_approvals(self, wall: float, limit: int) -> tuple[Approval, ...]:
        """Live approvals of any tenant whose time is over at `wall`, the longest over first."""
        ...

    async def forget_approvals(self, *, retention_s: float, tool: str | None = None) -> int:
        """Drop approvals that ended longer than `retention_s` ago, whole; how many. `tool`: only of this one."""
        ...
