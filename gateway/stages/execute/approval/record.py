"""The approval record: one exact action that a person may allow, once, until it lapses.

Times named `_wall` are seconds since 1970 UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from gateway.contract.call import Token


class Status(StrEnum):
    """Where an approval stands."""

    PENDING = "pending"
    """Asked for; nobody has decided."""
    APPROVED = "approved"
    RESERVED = "reserved"
    """A call has claimed the operation with it; nothing is sent."""
    SPENT = "spent"
    """Bytes may have left with it: it allows no other send but those of the same claim."""
    DENIED = "denied"
    EXPIRED = "expired"


LIVE: Final = frozenset({Status.PENDING, Status.APPROVED, Status.RESERVED})
"""There is at most one of these for an action."""
ENDED: Final = frozenset(Status) - LIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's word.

    Attributes:
        by: the approver's subject.
        note: in the approver's own words.
        attributes: those of the approver that the manifest's `limit` names, as they were then.
        key_id: of the API key with which the approver came; None: with another credential.
        token: what is kept of the JWT with which the approver came: of its grants only the permission that decides.
    """

    by: str
    wall: float
    note: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    key_id: str | None = None
    token: Token | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One action, who asked for it, and what was decided.

    Attributes:
        action_hash: of tool, material arguments, operation key, subject, run and rendered request: what is allowed.
        operation_key: of the occurrence that it would be.
        approvers: the permission that whoever decides must hold.
        reasons: why a person is asked, each a sentence; made from validated arguments.
        repeats: id of the operation of the same identity that was done before, if there is one.
        arguments: validated, normalised, defaulted; for whoever decides.
        operation_id: of the record that it is reserved for, or was spent on; `fence` is that claim's.
        traceparent: of the call that asked.
    """

    approval_id: str
    action_hash: str
    tenant: str
    subject: str
    run_id: str | None
    step: int | None
    tool: str
    tool_version: str
    manifest_digest: str
    operation_key: str
    approvers: str
    reasons: tuple[str, ...]
    repeats: str | None
    created_wall: float
    expires_wall: float
    arguments: Mapping[str, Any] = field(default_factory=dict)
    status: Status = Status.PENDING
    version: int = 1
    decision: Decision | None = None
    operation_id: str | None = None
    fence: int | None = None
    ended_wall: float | None = None
    traceparent: str | None = None

    def has_lapsed(self, wall: float) -> bool:
        """Whether its time is over."""
        return wall >= self.expires_wall

    def is_denial(self, wall: float) -> bool:
        """Whether it still says no: a denial stands as long as the approval would have."""
        return self.status is Status.DENIED and not self.has_lapsed(wall)

    def __repr__(self) -> str:
        return f"<Approval {self.approval_id} {self.status} v{self.version}>"
