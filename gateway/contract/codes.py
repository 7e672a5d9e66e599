"""Every error code of the wire contract, with one row of facts each.

`docs/errors.md`, the OpenAPI enum, metric values and HTTP statuses are all read from `FACTS`; nothing else
declares a code. Standard library only: `agent_client` imports this module.

Different material arguments on an identity that is already done are `idempotency_conflict` under `repeat: deny`, as on
an open one: for the caller both mean "taken, by a call with other arguments". `details.state` tells them apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class CallOutcome(StrEnum):
    """What is known about the effect in the world, as `error.outcome` says it."""

    NOT_EXECUTED = "not_executed"
    """Proved never delivered, or proved refused."""
    EXECUTED = "executed"
    """Done; the result is lost, unreadable or elsewhere."""
    UNKNOWN = "unknown"
    """It may have been done. Nobody can say yet."""


class NextAction(StrEnum):
    """What the caller should do now, as `error.next_action` says it."""

    FIX_ARGUMENTS = "fix_arguments"
    RETRY = "retry"
    WAIT = "wait"
    VERIFY = "verify"
    REQUEST_APPROVAL = "request_approval"
    USE_EXISTING_RESULT = "use_existing_result"
    ESCALATE = "escalate"
    STOP = "stop"


class BreakerCount(StrEnum):
    """What one such attempt tells the circuit breaker about the dependency's health."""

    FAILURE = "failure"
    SUCCESS = "success"
    """It answered. A refusal is health."""
    IGNORED = "ignored"
    """Says nothing about the dependency: our own refusals, cancellations, throttling."""


class ErrorCode(StrEnum):
    """The value of `error.code`. Codes are added, never renamed."""

    # The request itself.
    INVALID_JSON = "invalid_json"
    INVALID_REQUEST = "invalid_request"
    INVALID_HEADER = "invalid_header"
    INVALID_IDEMPOTENCY_KEY = "invalid_idempotency_key"
    BODY_TOO_LARGE = "body_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    UNAUTHENTICATED = "unauthenticated"
    AUTHENTICATION_UNAVAILABLE = "authentication_unavailable"
    ROUTE_NOT_FOUND = "route_not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    OPERATION_NOT_FOUND = "operation_not_found"
    APPROVAL_NOT_FOUND = "approval_not_found"
    BREAKER_NOT_FOUND = "breaker_not_found"
    # Validation, permission, approval.
    UNKNOWN_TOOL = "unknown_tool"
    MISSING_ARGUMENTS = "missing_arguments"
    UNKNOWN_ARGUMENTS = "unknown_arguments"
    WRONG_TYPE = "wrong_type"
    INVALID_ARGUMENTS = "invalid_arguments"
    RUN_ID_REQUIRED = "run_id_required"
    IDEMPOTENCY_KEY_REQUIRED = "idempotency_key_required"
    FORBIDDEN = "forbidden"
    OVER_LIMIT = "over_limit"
    NOT_OWNER = "not_owner"
    RULE_DENIED = "rule_denied"
    RULE_ERROR = "rule_error"
    RULE_LOOKUP_FAILED = "rule_lookup_failed"
    APPROVAL_REQUIRED = "approval_required"
    APPROVAL_MISMATCH = "approval_mismatch"
    APPROVAL_EXPIRED = "approval_expired"
    APPROVAL_DENIED = "approval_denied"
    REPEAT_NOT_ALLOWED = "repeat_not_allowed"
    # The operation record.
    INTENT_STALE = "intent_stale"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
    BLOCKED_BY_UNKNOWN = "blocked_by_unknown"
    OPERATION_FROZEN = "operation_frozen"
    NOT_RECONCILABLE = "not_reconcilable"
    INVALID_SETTLEMENT = "invalid_settlement"
    # An approver's word.
    APPROVER_NOT_ENTITLED = "approver_not_entitled"
    APPROVAL_DECIDED = "approval_decided"
    # The gateway's own limits and state.
    STORE_UNAVAILABLE = "store_unavailable"
    GATEWAY_SATURATED = "gateway_saturated"
    CIRCUIT_OPEN = "circuit_open"
    RATE_LIMITED = "rate_limited"
    BUDGET_EXHAUSTED = "budget_exhausted"
    DRAINING = "draining"
    DEADLINE_TOO_SHORT = "deadline_too_short"
    DEADLINE_BEFORE_SEND = "deadline_before_send"
    GATEWAY_CONFIG_ERROR = "gateway_config_error"
    GATEWAY_ERROR = "gateway_error"
    TOOL_QUARANTINED = "tool_quarantined"
    # Proved never delivered.
    HOST_NOT_ALLOWED = "host_not_allowed"
    DNS_FAILED = "dns_failed"
    CONNECT_TIMEOUT = "connect_timeout"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    TLS_UNTRUSTED = "tls_untrusted"
    PROXY_FAILED = "proxy_failed"
    # Delivered and proved not done.
    REJECTED = "rejected"
    DECLINED = "declined"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    PRECONDITION_FAILED = "precondition_failed"
    LOCKED = "locked"
    TOO_EARLY = "too_early"
    UNAVAILABLE = "unavailable"
    UNSUPPORTED = "unsupported"
    DOWNSTREAM_AUTH = "downstream_auth"
    DOWNSTREAM_FORBIDDEN = "downstream_forbidden"
    DOWNSTREAM_TIMEOUT = "downstream_timeout"
    REDIRECT_REFUSED = "redirect_refused"
    UNEXPECTED_STATUS = "unexpected_status"
    # Done, but the result is not in hand.
    DONE_RESULT_LOST = "done_result_lost"
    DONE_RESULT_ELSEWHERE = "done_result_elsewhere"
    PARTIAL = "partial"
    RESULT_UNREADABLE = "result_unreadable"
    RESULT_TOO_LARGE = "result_too_large"
    # Sent, and nothing proved.
    TIMEOUT_UNKNOWN_OUTCOME = "timeout_unknown_outcome"
    OUTCOME_UNKNOWN = "outcome_unknown"
    MALFORMED_RESPONSE = "malformed_response"
    DOWNSTREAM_ERROR_UNKNOWN_OUTCOME = "downstream_error_unknown_outcome"
    IN_FLIGHT_DOWNSTREAM = "in_flight_downstream"
    GATEWAY_ERROR_UNKNOWN_OUTCOME = "gateway_error_unknown_outcome"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFacts:
    """What one code means, whatever the tool.

    Attributes:
        outcome: what is known about the effect.
        retryable: the same call, unchanged, may be sent again.
        next_action: what to do, when the context does not know better.
        status: the HTTP status of `POST /v1/tools/{tool}/calls`.
        breaker: what one such attempt tells the breaker.
        sentence: what happened and what to do, for a caller about whom nothing else is known.
        retry_after_s: seconds to wait when nobody measured a better number; every 503 has one.
    """

    outcome: CallOutcome
    retryable: bool
    next_action: NextAction
    status: int
    breaker: BreakerCount
    sentence: str
    retry_after_s: float | None = None


_NO, _YES = False, True
_NOT, _DONE, _UNKNOWN = CallOutcome.NOT_EXECUTED, CallOutcome.EXECUTED, CallOutcome.UNKNOWN
_BAD, _GOOD, _NEUTRAL = BreakerCount.FAILURE, BreakerCount.SUCCESS, BreakerCount.IGNORED
_A, _C = NextAction, ErrorCode


def _row(
    outcome: CallOutcome,
    retryable: bool,  # noqa: FBT001
    next_action: NextAction,
    status: int,
    breaker: BreakerCount,
    sentence: str,
    retry_after_s: float | None = None,
) -> CodeFacts:
    return CodeFacts(
        outcome=outcome,
        retryable=retryable,
        next_action=next_action,
        status=status,
        breaker=breaker,
        sentence=sentence,
        retry_after_s=retry_after_s,
    )


# One line a code, so that a column can be read from top to bottom.
# fmt: off
FACTS: Final[Mapping[ErrorCode, CodeFacts]] = MappingProxyType({
    _C.INVALID_JSON: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 400, _NEUTRAL, "Nothing was executed: the body is not strict JSON. Correct it and send it again."),
    _C.INVALID_REQUEST: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 400, _NEUTRAL, "Nothing was executed: the request does not have the shape this route expects. Correct it and send it again."),
    _C.INVALID_HEADER: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 400, _NEUTRAL, "Nothing was executed: a request header has a value that cannot be used. Correct the header and send the call again."),
    _C.INVALID_IDEMPOTENCY_KEY: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 400, _NEUTRAL, "Nothing was executed: an Idempotency-Key is 1 to 255 visible ASCII characters. Correct the header and send the call again."),
    _C.BODY_TOO_LARGE: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 413, _NEUTRAL, "Nothing was executed: the request is larger than the limit. Send less."),
    _C.UNSUPPORTED_MEDIA_TYPE: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 415, _NEUTRAL, "Nothing was executed: the body must be sent as application/json. Correct Content-Type and send the call again."),
    _C.UNAUTHENTICATED: _row(_NOT, _NO, _A.STOP, 401, _NEUTRAL, "Nothing was executed: no valid credential came with the request. Stop and report that the credential must be renewed."),
    _C.AUTHENTICATION_UNAVAILABLE: _row(_NOT, _YES, _A.WAIT, 503, _NEUTRAL, "Nothing was executed: whoever issued the credential could not be asked for the key that would prove it. Make the same call again later.", 5.0),
    _C.ROUTE_NOT_FOUND: _row(_NOT, _NO, _A.STOP, 404, _NEUTRAL, "Nothing was executed: there is no such route. Read /openapi.json for the routes there are."),
    _C.METHOD_NOT_ALLOWED: _row(_NOT, _NO, _A.STOP, 405, _NEUTRAL, "Nothing was executed: the route does not take this method. Use a method named in the Allow header."),
    _C.OPERATION_NOT_FOUND: _row(_NOT, _NO, _A.STOP, 404, _NEUTRAL, "There is no such operation among those this caller may see. Check the identifier; do not guess another."),
    _C.APPROVAL_NOT_FOUND: _row(_NOT, _NO, _A.STOP, 404, _NEUTRAL, "There is no such approval among those this caller may see. Check the identifier; do not guess another."),
    _C.BREAKER_NOT_FOUND: _row(_NOT, _NO, _A.STOP, 404, _NEUTRAL, "No tool has a breaker of that name. Read /v1/breakers, or breaker.scope in the manifests, for the names there are; do not guess."),

    _C.UNKNOWN_TOOL: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 404, _NEUTRAL, "Nothing was executed: no tool has this name. Call one of the tools in the catalogue."),
    _C.MISSING_ARGUMENTS: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 422, _NEUTRAL, "Nothing was executed: required arguments are missing. Supply them and call again."),
    _C.UNKNOWN_ARGUMENTS: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 422, _NEUTRAL, "Nothing was executed: the tool has no such arguments. Remove them and call again."),
    _C.WRONG_TYPE: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 422, _NEUTRAL, "Nothing was executed: an argument has the wrong type. Correct it and call again."),
    _C.INVALID_ARGUMENTS: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 422, _NEUTRAL, "Nothing was executed: an argument has a value that is not allowed. Correct it and call again."),
    _C.RUN_ID_REQUIRED: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 400, _NEUTRAL, "Nothing was executed: this tool counts by run. Send run.id with the call."),
    _C.IDEMPOTENCY_KEY_REQUIRED: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 400, _NEUTRAL, "Nothing was executed: this tool needs an Idempotency-Key header that names the operation. Send one, the same for every attempt."),
    _C.FORBIDDEN: _row(_NOT, _NO, _A.ESCALATE, 403, _NEUTRAL, "Nothing was executed: the caller does not hold the permission this tool needs. Escalate instead of retrying."),
    _C.OVER_LIMIT: _row(_NOT, _NO, _A.ESCALATE, 403, _NEUTRAL, "Nothing was executed: the action exceeds the caller's limit. Ask for less, or escalate to someone with a higher limit."),
    _C.NOT_OWNER: _row(_NOT, _NO, _A.ESCALATE, 403, _NEUTRAL, "Nothing was executed: what the call names does not belong to this caller's customer. Check the identifier, or escalate."),
    _C.RULE_DENIED: _row(_NOT, _NO, _A.ESCALATE, 403, _NEUTRAL, "Nothing was executed: a rule of the tool does not allow this call. Escalate instead of retrying."),
    _C.RULE_ERROR: _row(_NOT, _NO, _A.ESCALATE, 403, _NEUTRAL, "Nothing was executed: a rule of the tool could not be evaluated. Do not retry; escalate to an operator."),
    _C.RULE_LOOKUP_FAILED: _row(_NOT, _YES, _A.WAIT, 503, _NEUTRAL, "Nothing was executed: what a rule of the tool needs to know could not be looked up. Make the same call again later.", 2.0),
    _C.APPROVAL_REQUIRED: _row(_NOT, _NO, _A.REQUEST_APPROVAL, 409, _NEUTRAL, "Nothing was executed: a person must approve this exact action first. Wait for the decision, then make the same call again."),
    _C.APPROVAL_MISMATCH: _row(_NOT, _NO, _A.REQUEST_APPROVAL, 409, _NEUTRAL, "Nothing was executed: the approval is for another action, or none of this caller's. Make the call that was approved, or request an approval for this one."),
    _C.APPROVAL_EXPIRED: _row(_NOT, _NO, _A.REQUEST_APPROVAL, 409, _NEUTRAL, "Nothing was executed: the approval has lapsed. Request a new approval for the same action."),
    _C.APPROVAL_DENIED: _row(_NOT, _NO, _A.STOP, 403, _NEUTRAL, "Nothing was executed: an approver has denied this action. Stop, and report that it was denied."),
    _C.REPEAT_NOT_ALLOWED: _row(_NOT, _NO, _A.ESCALATE, 409, _NEUTRAL, "Nothing was executed: this action is already done and may not be repeated. Use the stored result, or escalate if a second effect is intended."),

    _C.INTENT_STALE: _row(_NOT, _NO, _A.VERIFY, 409, _NEUTRAL, "Nothing was executed by this call: the action is no longer the one that was prepared. Look up the prepared operation, then prepare again."),
    _C.IDEMPOTENCY_CONFLICT: _row(_NOT, _NO, _A.USE_EXISTING_RESULT, 422, _NEUTRAL, "Nothing was executed by this call: the same operation exists with other arguments. Use its result, or escalate if a second effect is intended."),
    _C.IDEMPOTENCY_IN_PROGRESS: _row(_UNKNOWN, _YES, _A.WAIT, 409, _NEUTRAL, "The same operation is being carried out by another call. Do not start another; make the same call again later to get its answer.", 1.0),
    _C.BLOCKED_BY_UNKNOWN: _row(_NOT, _NO, _A.VERIFY, 409, _NEUTRAL, "Nothing was executed by this call: another operation on the same object may or may not have been done. Verify that one first."),
    _C.OPERATION_FROZEN: _row(_UNKNOWN, _NO, _A.ESCALATE, 424, _NEUTRAL, "There is evidence of more than one effect, or evidence that contradicts itself. Do not call again; escalate to an operator."),
    _C.NOT_RECONCILABLE: _row(_NOT, _NO, _A.ESCALATE, 409, _NEUTRAL, "Nothing was looked up: the tool declares no means to settle this operation. Escalate to an operator, who can settle it with evidence."),
    _C.INVALID_SETTLEMENT: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 422, _NEUTRAL, "Nothing was settled: the operation cannot be settled in this way from its present state. Read the operation, then correct the settlement."),
    _C.APPROVER_NOT_ENTITLED: _row(_NOT, _NO, _A.ESCALATE, 403, _NEUTRAL, "Nothing was decided: this approval is not for this caller to decide. Escalate to somebody else who may."),
    _C.APPROVAL_DECIDED: _row(_NOT, _NO, _A.STOP, 409, _NEUTRAL, "Nothing was changed: the approval is already decided, or has lapsed. Stop: a decision is made once. Read the approval."),

    _C.STORE_UNAVAILABLE: _row(_NOT, _YES, _A.WAIT, 503, _NEUTRAL, "Nothing was sent by this call: the record that guards against doing it twice cannot be written. Make the same call again later.", 5.0),
    _C.GATEWAY_SATURATED: _row(_NOT, _YES, _A.RETRY, 503, _NEUTRAL, "Nothing was sent: the gateway is at its limit for this tool. Make the same call again later.", 1.0),
    _C.CIRCUIT_OPEN: _row(_NOT, _YES, _A.WAIT, 503, _NEUTRAL, "Nothing was sent: the service behind this tool is failing and is being left alone. Use a different approach or escalate; do not call again before the wait is over.", 30.0),
    _C.RATE_LIMITED: _row(_NOT, _YES, _A.WAIT, 429, _NEUTRAL, "Nothing was executed: too many calls in a short time. Make the same call again after the wait.", 1.0),
    _C.BUDGET_EXHAUSTED: _row(_NOT, _NO, _A.ESCALATE, 403, _NEUTRAL, "Nothing was executed: the run has used up its budget for this. Finish without it, or escalate to someone who may raise it."),
    _C.DRAINING: _row(_NOT, _YES, _A.RETRY, 503, _NEUTRAL, "Nothing was executed: this gateway process is shutting down, or has an older manifest than another. Make the same call again.", 1.0),
    _C.DEADLINE_TOO_SHORT: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 400, _NEUTRAL, "Nothing was sent: the deadline leaves too little time to send the action and learn its outcome. Call again with more time."),
    _C.DEADLINE_BEFORE_SEND: _row(_NOT, _YES, _A.RETRY, 504, _NEUTRAL, "Nothing was sent before the deadline. It is safe to make the same call again with more time."),
    _C.GATEWAY_CONFIG_ERROR: _row(_NOT, _NO, _A.ESCALATE, 500, _NEUTRAL, "Nothing was sent: the tool is misconfigured. Do not retry; escalate to an operator."),
    _C.GATEWAY_ERROR: _row(_NOT, _NO, _A.ESCALATE, 500, _NEUTRAL, "Nothing was sent: the gateway failed. Do not keep retrying; escalate to an operator."),
    _C.TOOL_QUARANTINED: _row(_NOT, _NO, _A.ESCALATE, 502, _NEUTRAL, "Nothing was sent: the MCP server shows another tool than the one that was reviewed, so it is not called. Do not retry; escalate to an operator."),

    _C.HOST_NOT_ALLOWED: _row(_NOT, _NO, _A.ESCALATE, 502, _NEUTRAL, "Nothing was sent: the service's address is not one the operator allows. Do not retry; escalate to an operator."),
    _C.DNS_FAILED: _row(_NOT, _YES, _A.RETRY, 502, _BAD, "Nothing was delivered: the service's address could not be resolved. Retry once, then escalate."),
    _C.CONNECT_TIMEOUT: _row(_NOT, _YES, _A.RETRY, 504, _BAD, "A connection could not be opened in time, so the request was never delivered. It is safe to retry."),
    _C.CONNECT_FAILED: _row(_NOT, _YES, _A.RETRY, 502, _BAD, "A connection could not be opened, so the request was never delivered. It is safe to retry later."),
    _C.TLS_FAILED: _row(_NOT, _YES, _A.RETRY, 502, _BAD, "The secure connection failed before anything was sent. It is safe to retry."),
    _C.TLS_UNTRUSTED: _row(_NOT, _NO, _A.ESCALATE, 502, _NEUTRAL, "Nothing was sent: the service's certificate is not trusted. Do not retry; escalate to an operator."),
    _C.PROXY_FAILED: _row(_NOT, _YES, _A.RETRY, 502, _BAD, "A network in between refused, so nothing reached the service. It is safe to retry later."),

    _C.REJECTED: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 422, _GOOD, "The service refused the action; nothing was done. Correct the arguments; do not send the same call again."),
    _C.DECLINED: _row(_NOT, _NO, _A.STOP, 422, _GOOD, "The service declined the action; nothing was done. Do not send the same call again; report the decline."),
    _C.NOT_FOUND: _row(_NOT, _NO, _A.FIX_ARGUMENTS, 422, _GOOD, "The service knows no such object; nothing was done. Check the identifiers."),
    _C.CONFLICT: _row(_NOT, _NO, _A.VERIFY, 422, _GOOD, "The service refused because of the object's present state; nothing was done. Read that state before going on."),
    _C.PRECONDITION_FAILED: _row(_NOT, _NO, _A.VERIFY, 422, _GOOD, "The service refused because the object has changed; nothing was done. Read its present state before going on."),
    _C.LOCKED: _row(_NOT, _YES, _A.WAIT, 422, _GOOD, "The service refused because the object is locked; nothing was done. Make the same call again later.", 1.0),
    _C.TOO_EARLY: _row(_NOT, _YES, _A.RETRY, 422, _GOOD, "The service would not take the request so early; nothing was done. Make the same call again.", 1.0),
    _C.UNAVAILABLE: _row(_NOT, _YES, _A.WAIT, 503, _BAD, "The service is unavailable, and nothing was done or changed. Make the same call again later.", 5.0),
    _C.UNSUPPORTED: _row(_NOT, _NO, _A.ESCALATE, 422, _GOOD, "The service does not support this request; nothing was done. Do not retry; escalate to an operator."),
    _C.DOWNSTREAM_AUTH: _row(_NOT, _NO, _A.ESCALATE, 422, _GOOD, "The service did not accept the gateway's credential; nothing was done. Do not retry; escalate to an operator."),
    _C.DOWNSTREAM_FORBIDDEN: _row(_NOT, _NO, _A.ESCALATE, 422, _GOOD, "The service does not allow the gateway this action; nothing was done. Do not retry; escalate to an operator."),
    _C.DOWNSTREAM_TIMEOUT: _row(_NOT, _YES, _A.RETRY, 504, _BAD, "The service ran out of time, and nothing was done or changed. It is safe to retry."),
    _C.REDIRECT_REFUSED: _row(_NOT, _NO, _A.ESCALATE, 422, _GOOD, "The service pointed elsewhere and redirects are not followed; nothing was done. Do not retry; escalate to an operator."),
    _C.UNEXPECTED_STATUS: _row(_NOT, _NO, _A.ESCALATE, 422, _GOOD, "The service answered with a status that has no meaning here; nothing was done. Do not retry; escalate to an operator."),

    _C.DONE_RESULT_LOST: _row(_DONE, _NO, _A.USE_EXISTING_RESULT, 424, _GOOD, "The action was carried out, but its result was lost. Do not repeat it; read the result with a look-up."),
    _C.DONE_RESULT_ELSEWHERE: _row(_DONE, _NO, _A.USE_EXISTING_RESULT, 424, _GOOD, "The action was carried out; its result is kept elsewhere. Do not repeat it; read the result with a look-up."),
    _C.PARTIAL: _row(_DONE, _NO, _A.VERIFY, 424, _GOOD, "The action was carried out in part. Do not repeat it as a whole; verify which parts were done."),
    _C.RESULT_UNREADABLE: _row(_DONE, _NO, _A.USE_EXISTING_RESULT, 424, _GOOD, "The action was carried out, but its result cannot be read. Do not repeat it; read the result with a look-up."),
    _C.RESULT_TOO_LARGE: _row(_DONE, _NO, _A.USE_EXISTING_RESULT, 424, _GOOD, "The action was carried out, but its result is larger than the limit. Do not repeat it; read a smaller part of the result."),

    _C.TIMEOUT_UNKNOWN_OUTCOME: _row(_UNKNOWN, _NO, _A.VERIFY, 424, _BAD, "No response in time. The action MAY have been carried out. Do not call again; verify with a read first."),
    _C.OUTCOME_UNKNOWN: _row(_UNKNOWN, _NO, _A.VERIFY, 424, _BAD, "No proof came back after sending. The action MAY have been carried out. Do not call again; verify with a read first."),
    _C.MALFORMED_RESPONSE: _row(_UNKNOWN, _NO, _A.VERIFY, 424, _BAD, "The reply could not be read. The action MAY have been carried out. Do not call again; verify with a read first."),
    _C.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME: _row(_UNKNOWN, _NO, _A.VERIFY, 424, _BAD, "The service failed while handling the request. The action MAY have been carried out. Do not call again; verify with a read first."),
    _C.IN_FLIGHT_DOWNSTREAM: _row(_UNKNOWN, _NO, _A.WAIT, 424, _GOOD, "The service is still carrying out an earlier attempt of this action. Do not start another; verify with a read after the wait.", 2.0),
    _C.GATEWAY_ERROR_UNKNOWN_OUTCOME: _row(_UNKNOWN, _NO, _A.VERIFY, 424, _NEUTRAL, "The gateway failed after sending began. The action MAY have been carried out. Do not call again; verify with a read first."),
})
# fmt: on


def facts(code: str) -> CodeFacts:
    """The row of `code`.

    Raises:
        KeyError: when `code` is not a code of this contract.
    """
    return FACTS[code]  # type: ignore[index]  # a StrEnum member and its value are equal and hash alike
