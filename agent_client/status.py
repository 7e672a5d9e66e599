"""How a task stands, and why: the words a caller branches on."""

from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """Where a task stands."""

    RUNNING = "RUNNING"
    """A worker has it, or may take it."""
    AWAITING_APPROVAL = "AWAITING_APPROVAL"
    """Suspended: a person decides at the gateway. The one pause."""
    SUCCEEDED = "SUCCEEDED"
    """The completion predicate holds over recorded evidence."""
    NEEDS_INPUT = "NEEDS_INPUT"
    """Only the customer, or a person of ours, can supply what is missing."""
    DENIED = "DENIED"
    """Policy or an approver refused, and no other words would change that."""
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    """Steps, active time or tokens are used up."""
    NO_PROGRESS = "NO_PROGRESS"
    """The loop went round without getting on, was told so once, and went round again."""
    FAILED = "FAILED"
    """Nothing more can be done without a person."""


TERMINAL: Final = frozenset(Status) - {Status.RUNNING, Status.AWAITING_APPROVAL}


class Reason(StrEnum):
    """Why. One status has several; each belongs to one status."""

    ADMITTED = "admitted"
    RESUMED = "resumed"
    APPROVAL = "approval"
    VERIFIED = "verified"
    QUESTION = "question"
    APPROVAL_EXPIRED = "approval_expired"
    APPROVAL_DENIED = "approval_denied"
    POLICY = "policy"
    STEPS = "steps"
    DEADLINE = "deadline"
    TOKENS = "tokens"
    REPEATED_ACTION = "repeated_action"
    NO_STATE_CHANGE = "no_state_change"
    CYCLE = "cycle"
    NO_ACTION = "no_action"
    MODEL_UNAVAILABLE = "model_unavailable"
    MODEL_REFUSED = "model_refused"
    GATEWAY_UNAVAILABLE = "gateway_unavailable"
    GATEWAY_REFUSED = "gateway_refused"
    UNRECONCILED = "unreconciled"
    RESUME_LIMIT = "resume_limit"


STATUS_OF: Final = {
    Reason.ADMITTED: Status.RUNNING,
    Reason.RESUMED: Status.RUNNING,
    Reason.APPROVAL: Status.AWAITING_APPROVAL,
    Reason.VERIFIED: Status.SUCCEEDED,
    Reason.QUESTION: Status.NEEDS_INPUT,
    Reason.APPROVAL_EXPIRED: Status.NEEDS_INPUT,
    Reason.APPROVAL_DENIED: Status.DENIED,
    Reason.POLICY: Status.DENIED,
    Reason.STEPS: Status.BUDGET_EXHAUSTED,
    Reason.DEADLINE: Status.BUDGET_EXHAUSTED,
    Reason.TOKENS: Status.BUDGET_EXHAUSTED,
    Reason.REPEATED_ACTION: Status.NO_PROGRESS,
    Reason.NO_STATE_CHANGE: Status.NO_PROGRESS,
    Reason.CYCLE: Status.NO_PROGRESS,
    Reason.NO_ACTION: Status.FAILED,
    Reason.MODEL_UNAVAILABLE: Status.FAILED,
    Reason.MODEL_REFUSED: Status.FAILED,
    Reason.GATEWAY_UNAVAILABLE: Status.FAILED,
    Reason.GATEWAY_REFUSED: Status.FAILED,
    Reason.UNRECONCILED: Status.FAILED,
    Reason.RESUME_LIMIT: Status.FAILED,
}
"""The status a reason stands for. A task ends with a reason; its status follows."""
