"""What one envelope, or one later settlement, leaves behind: an execution row."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.contract.keyed_hash import keyed_hash
from gateway.contract.quick import quick
from gateway.manifest.policies import Cost
from gateway.stages.execute.approval.record import Approval, Status
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.monitor.attributes import UNKNOWN_TOOL
from gateway.stages.monitor.outcome import charged
from gateway.stages.monitor.ports import TracedTool

OK: Final = "ok"
"""`ExecutionRow.outcome` of an envelope without an error."""

_MS_PER_S: Final = 1000.0

_SETTLED: Final[Mapping[State, CallOutcome]] = {
    State.DONE: CallOutcome.EXECUTED,
    State.REFUSED: CallOutcome.NOT_EXECUTED,
    State.FREE: CallOutcome.NOT_EXECUTED,
    State.UNKNOWN: CallOutcome.UNKNOWN,
    State.FROZEN: CallOutcome.UNKNOWN,
}
"""What the state says about the world. A record that is owned has nothing to report yet."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Name and time of one row.

    Attributes:
        row_id: random, time-ordered.
        at_wall: seconds since 1970, when the envelope was made or the settlement learned.
        latency_s: from arrival to the envelope; 0 for a settlement.
    """

    row_id: str
    at_wall: float
    latency_s: float = 0.0


def argument_hash(canonical_arguments: bytes, key: bytes) -> str:
    """HMAC-SHA256, hexadecimal, of the canonical JSON of the arguments.

    Keyed with the deployment's own key, so that a reader of the rows cannot find short arguments by trying.
    """
    return keyed_hash(key, canonical_arguments).hex()


def user_hash(caller: Caller, key: bytes) -> str:
    """32 hexadecimal digits that stand for a caller in spans; keyed as `argument_hash` is."""
    return _user_hash(caller.tenant, caller.subject, key)


@lru_cache(maxsize=1024)
def _user_hash(tenant: str, subject: str, key: bytes) -> str:
    return keyed_hash(key, f"{tenant}\0{subject}".encode())[:16].hex()


def call_row(
    envelope: Envelope,
    stamp: Stamp,
    *,
    tool: TracedTool | None,
    caller: Caller | None,
    call: ToolCall | None,
    hashed_arguments: str | None = None,
    cost: Cost | None = None,
) -> ExecutionRow:
    """The row of an envelope that is given to a caller.

    Args:
        envelope: as it is delivered; what it says of itself is not asked for again.
        stamp: the row's name and time.
        tool: None when the catalogue has no such tool: the row then says `_unknown`, not what the caller wrote.
        caller: None when nobody was authenticated.
        call: None when the request could not be read.
        hashed_arguments: from `argument_hash`; None when they did not parse.
        cost: of the tool's manifest; counted only where `charged`.
    """
    meta, error = envelope.meta, envelope.error
    return ExecutionRow(
        row_id=stamp.row_id,
        kind=RowKind.CALL,
        at_wall=stamp.at_wall,
        tenant="" if caller is None else caller.tenant,
        subject="" if caller is None else caller.subject,
        tool=UNKNOWN_TOOL if tool is None else tool.name,
        request_id=meta.request_id,
        tool_version=None if tool is None else tool.version,
        manifest_digest=None if tool is None else tool.digest,
        effect=None if tool is None else str(tool.effect),
        run_id=meta.run_id,
        step=meta.step,
        tokens=None if call is None else call.tokens,
        operation_id=meta.operation_id,
        argument_hash=hashed_arguments,
        outcome=OK if error is None else str(error.outcome),
        code=None if error is None else str(error.code),
        replayed=meta.replayed,
        latency_ms=stamp.latency_s * _MS_PER_S,
        attempts=meta.attempts,
        cost_unit=None if cost is None else cost.unit,
        cost=cost.per_call if cost is not None and charged(envelope) else 0.0,
        approval_id=meta.approval_id,
        trace_id=meta.trace_id,
    )


def settlement_row(
    record: Record, stamp: Stamp, *, settled_by: str | None = None, trace_id: str | None = None
) -> ExecutionRow:
    """The row of what was learned about `record`, as it is now, after its envelope had gone. No call metric counts it.

    Args:
        record: the operation after the settlement.
        stamp: the row's name and time.
        settled_by: who or what learned it, where the record does not keep it (one that a look-up found FREE).
        trace_id: of the reconciliation.

    Raises:
        ValueError: the record is owned, so nothing is settled.
    """
    outcome = _SETTLED.get(record.state)
    if outcome is None:
        raise ValueError(f"a record in state {record.state} has nothing settled")
    origin = record.origin
    code = ErrorCode.OPERATION_FROZEN.value if record.state is State.FROZEN else record.outcome_code
    done = outcome is CallOutcome.EXECUTED and code is None
    return ExecutionRow(
        row_id=stamp.row_id,
        kind=RowKind.SETTLEMENT,
        at_wall=stamp.at_wall,
        tenant=origin.tenant,
        subject=origin.subject,
        tool=origin.tool,
        tool_version=origin.tool_version,
        manifest_digest=origin.manifest_digest,
        effect=origin.effect,
        run_id=origin.run_id,
        step=origin.step,
        operation_id=record.operation_id,
        outcome=OK if done else outcome.value,
        code=code,
        settled_by=settled_by or record.settled_by,
        trace_id=trace_id,
    )


def approval_row(approval: Approval, stamp: Stamp) -> ExecutionRow:
    """The row of what became of an approval without a call: a decision, its end in time, or that its yes is void.

    It belongs to whoever asked; `settled_by` says who decided.
    """
    decision = approval.decision
    decided = None if decision is None or approval.status is Status.EXPIRED else f"approver:{decision.by}"
    by_itself = "entitlement" if approval.status is Status.PENDING else "expiry"
    return ExecutionRow(
        row_id=stamp.row_id,
        kind=RowKind.APPROVAL,
        at_wall=stamp.at_wall,
        tenant=approval.tenant,
        subject=approval.subject,
        tool=approval.tool,
        tool_version=approval.tool_version,
        manifest_digest=approval.manifest_digest,
        run_id=approval.run_id,
        step=approval.step,
        outcome=approval.status.value,
        settled_by=decided or by_itself,
        approval_id=approval.approval_id,
    )
