"""One row per execution, as it is stored and as `GET /v1/executions` shows it."""

from dataclasses import dataclass
from enum import StrEnum

from gateway.contract.quick import quick


class RowKind(StrEnum):
    """What a row reports."""

    CALL = "call"
    """One envelope that was given to a caller."""
    SETTLEMENT = "settlement"
    """Something learned later about an operation; counted by no call metric."""
    APPROVAL = "approval"
    """What was decided about an approval, or that nobody did in time; counted by no call metric."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRow:
    """What one envelope, or one later settlement, leaves behind. No argument, result, key or credential is in it.

    Attributes:
        row_id: random, time-ordered.
        argument_hash: HMAC-SHA256 of the canonical arguments with the deployment's key; None when they did not parse.
        outcome: `ok`, `not_executed`, `executed` or `unknown`; of an approval `approved`, `denied` or `expired`.
        approval_id: that the call was told of, or went out with; or that was decided.
        code: the envelope's error code, None when ok.
        latency_ms: from arrival to the envelope.
        attempts: sends that passed the gate.
        cost: units by the manifest's `cost.per_call`, 0 when nothing was executed.
    """

    row_id: str
    kind: RowKind
    at_wall: float
    tenant: str
    subject: str
    tool: str
    request_id: str = ""
    tool_version: str | None = None
    manifest_digest: str | None = None
    effect: str | None = None
    run_id: str | None = None
    step: int | None = None
    tokens: int | None = None
    operation_id: str | None = None
    argument_hash: str | None = None
    outcome: str = "ok"
    code: str | None = None
    replayed: bool = False
    latency_ms: float = 0.0
    attempts: int = 0
    cost_unit: str | None = None
    cost: float = 0.0
    settled_by: str | None = None
    approval_id: str | None = None
    trace_id: str | None = None
