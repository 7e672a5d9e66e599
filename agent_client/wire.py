"""What the loop asks of a gateway, and typed views of what it answers.

Answers are `gateway.contract.envelope.Envelope`; the views here read the `data` of three of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What `prepare` answered and the loop saved: what the call is held to.

    Attributes:
        store_epoch: of the store that answered; goes with a second attempt.
    """

    operation_key: str
    action_hash: str
    store_epoch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """One call, or one `prepare`.

    Attributes:
        request_id: ours, for this attempt. The gateway names its own in `meta.request_id`; this one stands in an
            envelope that never came from a gateway.
        tokens: what the model has used for this step.
        expect: held to these, or `intent_stale`.
        attempt: `Idempotency-Attempt`: sends whose answer did not prove non-execution, this one included.
        repeat_of: the operation that this call means to do once more; it always needs an approval.
        idempotency_key: the caller's own name for the operation, for tools that ask for one.
        timeout_s: how long the loop waits; `X-Request-Timeout-Ms`.
    """

    tool: str
    arguments: Mapping[str, Any]
    request_id: str
    run_id: str
    step: int
    tokens: int | None = None
    expect: Intent | None = None
    attempt: int = 1
    approval_id: str | None = None
    repeat_of: str | None = None
    idempotency_key: str | None = None
    traceparent: str | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalNeed:
    """The `approval` of a `prepare` answer.

    Attributes:
        reason: the rule's words.
        approvers: the permission that may decide.
        expires_after_s: how long a person may take, from the request. `expires_after` on the wire.
    """

    required: bool
    reason: str | None = None
    approvers: str | None = None
    expires_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """`data` of a `prepare` that was not refused. Key and hash are None for a read."""

    operation_key: str | None
    action_hash: str | None
    effect: str
    store_epoch: str | None
    approval: ApprovalNeed
    verify_with: str | None

    @property
    def intent(self) -> Intent | None:
        """What to save before the call; None for a read."""
        if self.operation_key is None or self.action_hash is None:
            return None
        return Intent(
            operation_key=self.operation_key, action_hash=self.action_hash, store_epoch=self.store_epoch or ""
        )


class OperationState(StrEnum):
    """`state` of an operation, as the wire names it."""

    FREE = "free"
    CLAIMED = "claimed"
    SENT = "sent"
    UNKNOWN = "unknown"
    DONE = "done"
    REFUSED = "refused"
    FROZEN = "frozen"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationView:
    """What the loop reads of an operation. `code` is the error code it ended with, if any."""

    operation_id: str
    operation_key: str
    tool: str
    state: OperationState
    code: str | None = None


class ApprovalState(StrEnum):
    """`state` of an approval, as the wire names it."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    RESERVED = "reserved"
    SPENT = "spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalView:
    """What the loop reads of an approval.

    Attributes:
        expires_wall: seconds since 1970 UTC; None: it does not lapse.
        note: the approver's words. Shown to people; grants nothing.
    """

    approval_id: str
    state: ApprovalState
    tool: str
    action_hash: str
    expires_wall: float | None = None
    decided_by: str | None = None
    note: str | None = None


def read_prepared(data: Mapping[str, Any]) -> Prepared:
    """`data` of a `prepare` answer. Raises ValueError when it is something else."""
    try:
        need = data["approval"]
        expires_after = need.get("expires_after")
        return Prepared(
            operation_key=data["operation_key"],
            action_hash=data["action_hash"],
            effect=data["effect"],
            store_epoch=data["store_epoch"],
            approval=ApprovalNeed(
                required=bool(need["required"]),
                reason=need.get("reason"),
                approvers=need.get("approvers"),
                expires_after_s=None if expires_after is None else float(expires_after),
            ),
            verify_with=data.get("verify_with"),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as missing:
        raise ValueError(f"not the answer of prepare: {missing!r}") from missing


def read_operation(data: Mapping[str, Any]) -> OperationView:
    """One operation as `GET /v1/operations/{id}` shows it. Raises ValueError when it is something else."""
    try:
        return OperationView(
            operation_id=data["operation_id"],
            operation_key=data["operation_key"],
            tool=data["tool"],
            state=OperationState(data["state"]),
            code=data.get("code"),
        )
    except (KeyError, TypeError, AttributeError) as missing:
        raise ValueError(f"not an operation: {missing!r}") from missing
