"""What the sentence says, once more as data, for a loop that branches and does not read."""

from typing import Any, Final

from gateway.contract.codes import ErrorCode, NextAction
from gateway.manifest.arguments import ArgumentFault, FaultKind
from gateway.stages.feedback.advice import Means, means, next_action
from gateway.stages.feedback.context import Context, Suggestion
from gateway.stages.feedback.faults import MAX_FAULTS, place
from gateway.stages.feedback.words import MAX_NAMES, given_name, hidden_values, holds_hidden

_TELLS: Final = frozenset({NextAction.VERIFY, NextAction.USE_EXISTING_RESULT})

_APPROVALS: Final = frozenset(
    {
        ErrorCode.APPROVAL_REQUIRED,
        ErrorCode.APPROVAL_MISMATCH,
        ErrorCode.APPROVAL_EXPIRED,
        ErrorCode.APPROVAL_DENIED,
    }
)


def details(code: ErrorCode, context: Context) -> dict[str, Any]:
    """`error.details` for `code`: members that have nothing to say are left out.

    - `verify`: `{tool, arguments}` of the read that tells, where the advice is to ask it.
    - `faults`: of arguments: `path`, `keyword`, `names` of members, and what is `valid` or `expected` there.
    - `state`, `differing`, `operation_id`: of the operation that a conflicting call met.
    - `approval_id`, `approvers`, `expires_at`, `reason`: of the approval that stands between the call and its execution.
    - `blocked_by`: `{tool, operation_id, hold}`.
    """
    found: dict[str, Any] = {}
    if context.faults:
        found["faults"] = [_fault(fault) for fault in context.faults[:MAX_FAULTS]]
    if code is ErrorCode.IDEMPOTENCY_CONFLICT:
        known = {"state": context.state, "operation_id": context.operation_id, "differing": list(context.differing)}
        found |= {name: value for name, value in known.items() if value}
    if code in _APPROVALS:
        approval = {
            "approval_id": context.approval_id,
            "approvers": context.approvers,
            "expires_at": context.lapses_at,
            "reason": context.rule,
        }
        found |= {name: value for name, value in approval.items() if value}
    suggestion = context.verify if means(context) is Means.LOOKUP else None
    if code is ErrorCode.BLOCKED_BY_UNKNOWN:
        suggestion = context.blocker.verify if context.blocker else None
        if context.blocker is not None:
            blocker = context.blocker
            found["blocked_by"] = {"tool": blocker.tool, "operation_id": blocker.operation_id, "hold": blocker.hold}
    if suggestion is not None and next_action(code, context) in _TELLS and _may_be_told(suggestion, context):
        found["verify"] = {"tool": suggestion.tool, "arguments": dict(suggestion.arguments)}
    return found


def _fault(fault: ArgumentFault) -> dict[str, Any]:
    told: dict[str, Any] = {"path": place(fault.path), "keyword": fault.keyword}
    if fault.names:
        told["names"] = [given_name(name) for name in fault.names[:MAX_NAMES]]
    if fault.kind is FaultKind.UNKNOWN:
        told["valid"] = list(fault.expected)
    elif fault.expected is not None:
        told["expected"] = fault.expected
    return told


def _may_be_told(suggestion: Suggestion, context: Context) -> bool:
    return not holds_hidden(dict(suggestion.arguments), hidden_values(context.arguments, context.sensitive))
