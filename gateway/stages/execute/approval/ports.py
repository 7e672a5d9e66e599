"""The door through which approvals are kept: the same store as the records', for they move together."""

from dataclasses import dataclass
from typing import Final, Protocol

from gateway.contract.call import Caller
from gateway.stages.execute.approval.record import Approval, Decision, Status


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
    """Which approvals `list_approvals` gives, newest first: of `subject`, or of an action that `permissions` decide."""

    tenant: str
    subject: str
    permissions: frozenset[str] = frozenset()
    statuses: frozenset[Status] | None = None
    run_id: str | None = None
    tool: str | None = None
    limit: int = 100


class KeyHolders(Protocol):
    """What is known of those who hold API keys, at the moment of the question. No wait, no round trip."""

    def today(self, tenant: str, subject: str) -> tuple[Caller, ...] | None:
        """What each key of a subject stands for now; none: it has none any more. None: nobody here can say."""
        ...


class TokenHolders(Protocol):
    """What is known of those who came with a JWT, by their issuers."""

    def today(self, tenant: str, decision: Decision) -> frozenset[str]:
        """Which of the permissions that its token gave then it would give now; none, where it would not be believed.

        No wait, no round trip.
        """
        ...

    async def ask(self, decision: Decision) -> float | None:
        """Hear from the issuer what `today` needs to know, if it is time to. None: it is known. Never raises.

        Else seconds until it may be asked again: it cannot be had, and `today` would be a guess.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """Who is asked about an approver, by the credential of the decision.

    Attributes:
        keys: None: of API keys nothing is known but what was proved at the decision.
        tokens: None: no issuer is believed here, and no yes that rests on one.
    """

    keys: KeyHolders | None = None
    tokens: TokenHolders | None = None


NOBODY: Final = Approvers()


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
