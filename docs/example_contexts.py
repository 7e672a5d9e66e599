"""One example a code for `observations.md`: the refund of the first document, with something gone wrong each time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gateway.contract.codes import ErrorCode, NextAction
from gateway.contract.strict_json import JsonFault
from gateway.manifest.arguments import ArgumentFault, ArgumentsSchema
from gateway.manifest.policies import Effect
from gateway.stages.feedback.context import Blocker, Context, Suggestion

_SCHEMA: Final = ArgumentsSchema(
    {
        "type": "object",
        "required": ["order_id", "payment_id", "amount_paise"],
        "properties": {
            "order_id": {"type": "string", "pattern": "^ORD-[0-9]+$", "x-normalise": ["trim", "upper"]},
            "payment_id": {"type": "string", "minLength": 1},
            "amount_paise": {"type": "integer", "minimum": 1},
            "reason": {"type": "string", "maxLength": 500, "x-sensitive": True, "x-immaterial": True},
        },
    }
)
_ARGUMENTS: Final[Mapping[str, Any]] = {
    "order_id": "ORD-4471",
    "payment_id": "PAY-88",
    "amount_paise": 425000,
    "reason": "customer's own words",
}

REFUND: Final = Context(
    tool="issue_refund",
    effect=Effect.WRITE,
    arguments=_ARGUMENTS,
    shown=("order_id", "payment_id", "amount_paise"),
    sensitive=frozenset({"reason"}),
    dependency="payments",
    verify=Suggestion(tool="get_refund_status", arguments={"order_id": "ORD-4471"}),
    operation_id="01JB3K6Y0Q7D5T2N8R4V9W1XZC",
)
KEYED: Final = replace(REFUND, verify=None, keyed=True)
MESSAGE: Final = Context(
    tool="notify_customer",
    effect=Effect.WRITE,
    arguments={"customer_id": "C-17", "template": "refund_done"},
    dependency="mail",
    owner="support-platform",
    runbook="https://runbooks.example/unknown-mail",
)
READ: Final = Context(tool="lookup_order", effect=Effect.READ, arguments={"order_id": "ORD-4471"}, dependency="orders")
NOTHING: Final = Context()


def _faults(arguments: Mapping[str, Any]) -> tuple[ArgumentFault, ...]:
    return _SCHEMA.faults(_SCHEMA.prepare(arguments))


def _wrong(**changed: Any) -> Context:
    return replace(REFUND, arguments={}, faults=_faults({**_ARGUMENTS, **changed}))


_BLOCKER: Final = Blocker(
    tool="issue_refund", operation_id="01JB3K6Y0Q7D5T2N8R4V9W1XZC", hold="order", value="ORD-4471", verify=REFUND.verify
)
_C = ErrorCode

_KNOWN: Final[Mapping[ErrorCode, tuple[Context, ...]]] = {
    _C.INVALID_JSON: (replace(NOTHING, reason=JsonFault.DUPLICATE_NAME.value),),
    _C.INVALID_REQUEST: (replace(NOTHING, reason="arguments must be an object"),),
    _C.INVALID_HEADER: (
        replace(NOTHING, header="X-Request-Timeout-Ms", reason="a whole number of milliseconds is expected"),
    ),
    _C.BODY_TOO_LARGE: (replace(NOTHING, limit="65,536 bytes"),),
    _C.UNKNOWN_TOOL: (
        replace(NOTHING, tool="issue-refunds", tools=("get_refund_status", "issue_refund", "lookup_order")),
    ),
    _C.MISSING_ARGUMENTS: (replace(REFUND, arguments={}, faults=_faults({"order_id": "ORD-4471"})),),
    _C.UNKNOWN_ARGUMENTS: (_wrong(force=True), _wrong(orderid="ORD-4471")),
    _C.WRONG_TYPE: (_wrong(amount_paise="4250"),),
    _C.INVALID_ARGUMENTS: (_wrong(amount_paise=0, order_id="the last one"),),
    _C.FORBIDDEN: (
        replace(REFUND, operation_id=None, permission="refunds:write"),
        replace(REFUND, permission="operations:settle"),
    ),
    _C.OVER_LIMIT: (replace(REFUND, rule="Refund of 425000 paise exceeds the 100000 limit."),),
    _C.NOT_OWNER: (replace(REFUND, rule="Order ORD-4471 does not belong to the customer in this conversation."),),
    _C.RULE_DENIED: (
        replace(REFUND, rule="Orders of the pilot shop are refunded by people."),
        replace(REFUND, rule="The order is still being packed.", next_action=NextAction.WAIT),
    ),
    _C.RULE_ERROR: (replace(REFUND, reason="this caller has no attributes.max_refund_paise"),),
    _C.RULE_LOOKUP_FAILED: (replace(REFUND, reason="lookup_order answered circuit_open", retry_after_s=42.5),),
    _C.APPROVAL_REQUIRED: (
        replace(
            REFUND,
            approval_id="01JB3KAPPR",
            approvers="refunds:approve",
            rule="Refunds above INR 1,000 need a support lead (POL-REF-004 3.2).",
            lapses_at="2026-10-28T11:14:02Z",
        ),
    ),
    _C.APPROVAL_MISMATCH: (replace(REFUND, approval_id="01JB3KAPPR"),),
    _C.APPROVAL_EXPIRED: (replace(REFUND, approval_id="01JB3KAPPR"),),
    _C.APPROVAL_DENIED: (replace(REFUND, approval_id="01JB3KAPPR"),),
    _C.INTENT_STALE: (replace(REFUND, reason="the operation key differs"),),
    _C.IDEMPOTENCY_CONFLICT: (
        replace(
            REFUND, state="done", differing=("amount_paise",), settled_at="2026-10-28T09:14:02Z", settled_by="attempt"
        ),
        replace(
            REFUND, state="done", differing=("amount_paise",), settled_at="2026-10-28T11:40:55Z", settled_by="lookup"
        ),
        replace(REFUND, state="sent", differing=("amount_paise",)),
        replace(REFUND, state="unknown", differing=("amount_paise",)),
        replace(MESSAGE, state="refused", differing=("template",), operation_id="01JB3M0N"),
    ),
    _C.IDEMPOTENCY_IN_PROGRESS: (replace(REFUND, retry_after_s=4.0),),
    _C.BLOCKED_BY_UNKNOWN: (
        replace(MESSAGE, blocker=_BLOCKER),
        replace(MESSAGE, blocker=replace(_BLOCKER, verify=None)),
    ),
    _C.NOT_RECONCILABLE: (replace(MESSAGE, operation_id="01JB3M0N"),),
    _C.INVALID_SETTLEMENT: (
        replace(REFUND, state="done"),
        replace(REFUND, state="free"),
        replace(REFUND, state="unknown_listening"),
        replace(REFUND, reason="result.refund_id does not satisfy `required`, as issue_refund declares its result"),
    ),
    _C.APPROVER_NOT_ENTITLED: (
        replace(
            REFUND,
            approval_id="01JB3KAPPR",
            approvers="refunds:approve",
            reason="it is beyond what this approver may approve",
        ),
    ),
    _C.APPROVAL_DECIDED: (replace(REFUND, approval_id="01JB3KAPPR", state="denied"),),
    _C.GATEWAY_SATURATED: (replace(REFUND, limit="20 calls at a time"),),
    _C.CIRCUIT_OPEN: (replace(REFUND, failures=5, calls=5, last_code="connect_timeout", retry_after_s=42.5),),
    _C.RATE_LIMITED: (replace(REFUND, limit="50 calls in 1.0 s", retry_after_s=0.4),),
    _C.BUDGET_EXHAUSTED: (replace(REFUND, limit="5 refund a run, 5 spent"),),
    _C.DEADLINE_TOO_SHORT: (replace(REFUND, deadline_s=0.3, needed_s=2.25),),
    _C.CONNECT_TIMEOUT: (replace(REFUND, attempts=4),),
    _C.REJECTED: (replace(REFUND, status=400),),
    _C.DECLINED: (replace(REFUND, status=402),),
    _C.NOT_FOUND: (replace(READ, status=404),),
    _C.CONFLICT: (replace(REFUND, status=409), replace(MESSAGE, status=409)),
    _C.PRECONDITION_FAILED: (replace(REFUND, status=412),),
    _C.UNSUPPORTED: (replace(REFUND, status=501),),
    _C.DOWNSTREAM_AUTH: (replace(REFUND, status=401),),
    _C.DOWNSTREAM_FORBIDDEN: (replace(REFUND, status=403),),
    _C.REDIRECT_REFUSED: (replace(REFUND, status=307),),
    _C.UNEXPECTED_STATUS: (replace(REFUND, status=304),),
    _C.UNAVAILABLE: (replace(READ, attempts=4),),
    _C.DOWNSTREAM_TIMEOUT: (READ,),
    _C.DONE_RESULT_LOST: (REFUND, MESSAGE, READ),
    _C.DONE_RESULT_ELSEWHERE: (replace(REFUND, status=303),),
    _C.PARTIAL: (replace(REFUND, status=207), replace(MESSAGE, status=207)),
    _C.RESULT_UNREADABLE: (replace(REFUND, reason="it is not what the tool declares"), READ),
    _C.RESULT_TOO_LARGE: (replace(REFUND, limit="65,536 bytes"), replace(READ, limit="65,536 bytes")),
    _C.TIMEOUT_UNKNOWN_OUTCOME: (
        replace(REFUND, waited_s=5.0),
        replace(KEYED, waited_s=5.0),
        replace(MESSAGE, waited_s=5.0),
    ),
    _C.OUTCOME_UNKNOWN: (replace(REFUND, status=502),),
    _C.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME: (replace(REFUND, status=500),),
    _C.IN_FLIGHT_DOWNSTREAM: (REFUND, KEYED),
}

_BEFORE_ANY_TOOL: Final = frozenset(list(ErrorCode)[: list(ErrorCode).index(ErrorCode.UNKNOWN_TOOL)])

EXAMPLES: Final[Mapping[ErrorCode, tuple[Context, ...]]] = {
    code: _KNOWN.get(code, (NOTHING if code in _BEFORE_ANY_TOOL else REFUND,)) for code in ErrorCode
}
