"""What a call came to, in the seven words that spans, metrics and logs use.

The envelope's `error.outcome` says what is known about the world; these words say whose turn it is. A caller's
mistake and a refusal by the service (`rejected`) are kept apart from a fault of the service, the network or the
gateway (`error`), so that an error rate is a rate of faults.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.stages.execute.operation.record import State
from gateway.stages.monitor.ports import ReconcileResult


class Outcome(StrEnum):
    """The value of `oncegate.outcome`."""

    OK = "ok"
    ERROR = "error"
    UNKNOWN = "unknown"
    REJECTED = "rejected"
    APPROVAL_REQUIRED = "approval_required"
    REPLAYED = "replayed"
    """A stored answer, whatever it says."""
    IN_FLIGHT = "in_flight"
    """Another call is carrying the same operation out."""


FAULTS: Final = frozenset({Outcome.ERROR, Outcome.UNKNOWN})
"""The outcomes for which a span is in error and `error.type` is set."""

_C = ErrorCode

_BY_OUTCOME: Final[Mapping[Outcome, tuple[ErrorCode, ...]]] = {
    Outcome.APPROVAL_REQUIRED: (_C.APPROVAL_REQUIRED,),
    Outcome.IN_FLIGHT: (_C.IDEMPOTENCY_IN_PROGRESS,),
    Outcome.REJECTED: (
        # The request itself.
        _C.INVALID_JSON, _C.INVALID_REQUEST, _C.INVALID_HEADER, _C.INVALID_IDEMPOTENCY_KEY, _C.BODY_TOO_LARGE,
        _C.UNSUPPORTED_MEDIA_TYPE, _C.UNAUTHENTICATED, _C.ROUTE_NOT_FOUND, _C.METHOD_NOT_ALLOWED,
        _C.OPERATION_NOT_FOUND, _C.APPROVAL_NOT_FOUND, _C.BREAKER_NOT_FOUND,
        # Validation, permission, approval.
        _C.UNKNOWN_TOOL, _C.MISSING_ARGUMENTS, _C.UNKNOWN_ARGUMENTS, _C.WRONG_TYPE, _C.INVALID_ARGUMENTS,
        _C.RUN_ID_REQUIRED, _C.IDEMPOTENCY_KEY_REQUIRED, _C.FORBIDDEN, _C.OVER_LIMIT, _C.NOT_OWNER, _C.RULE_DENIED,
        _C.APPROVAL_MISMATCH, _C.APPROVAL_EXPIRED, _C.APPROVAL_DENIED, _C.REPEAT_NOT_ALLOWED,
        _C.APPROVER_NOT_ENTITLED, _C.APPROVAL_DECIDED,
        # The record, and the caller's own limits.
        _C.INTENT_STALE, _C.IDEMPOTENCY_CONFLICT, _C.BLOCKED_BY_UNKNOWN, _C.NOT_RECONCILABLE, _C.INVALID_SETTLEMENT,
        _C.RATE_LIMITED, _C.BUDGET_EXHAUSTED, _C.DEADLINE_TOO_SHORT,
        # The service's word about this action.
        _C.REJECTED, _C.DECLINED, _C.NOT_FOUND, _C.CONFLICT, _C.PRECONDITION_FAILED, _C.LOCKED, _C.TOO_EARLY,
    ),
    Outcome.ERROR: (
        # The gateway's state and its operator's settings.
        _C.AUTHENTICATION_UNAVAILABLE, _C.STORE_UNAVAILABLE, _C.GATEWAY_SATURATED, _C.CIRCUIT_OPEN, _C.DRAINING, _C.DEADLINE_BEFORE_SEND,
        _C.GATEWAY_CONFIG_ERROR, _C.GATEWAY_ERROR, _C.RULE_ERROR, _C.RULE_LOOKUP_FAILED, _C.TOOL_QUARANTINED,
        # Never delivered.
        _C.HOST_NOT_ALLOWED, _C.DNS_FAILED, _C.CONNECT_TIMEOUT, _C.CONNECT_FAILED, _C.TLS_FAILED, _C.TLS_UNTRUSTED,
        _C.PROXY_FAILED,
        # Refused for reasons that no caller can mend.
        _C.UNAVAILABLE, _C.UNSUPPORTED, _C.DOWNSTREAM_AUTH, _C.DOWNSTREAM_FORBIDDEN, _C.DOWNSTREAM_TIMEOUT,
        _C.REDIRECT_REFUSED, _C.UNEXPECTED_STATUS,
        # Done without a result in hand.
        _C.DONE_RESULT_LOST, _C.DONE_RESULT_ELSEWHERE, _C.PARTIAL, _C.RESULT_UNREADABLE, _C.RESULT_TOO_LARGE,
    ),
    Outcome.UNKNOWN: (
        _C.OPERATION_FROZEN, _C.TIMEOUT_UNKNOWN_OUTCOME, _C.OUTCOME_UNKNOWN, _C.MALFORMED_RESPONSE,
        _C.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME, _C.IN_FLIGHT_DOWNSTREAM, _C.GATEWAY_ERROR_UNKNOWN_OUTCOME,
    ),
}  # fmt: skip

OUTCOME_OF: Final[Mapping[ErrorCode, Outcome]] = MappingProxyType(
    {code: outcome for outcome, codes in _BY_OUTCOME.items() for code in codes}
)
"""Every error code's word, for an answer that is no replay."""


def outcome_of(envelope: Envelope) -> Outcome:
    """The word for one envelope."""
    if envelope.meta.replayed:
        return Outcome.REPLAYED
    return Outcome.OK if envelope.error is None else OUTCOME_OF[envelope.error.code]


def learned(state: State) -> ReconcileResult:
    """What a look into the world came to, by the state of the record after it."""
    match state:
        case State.DONE | State.FROZEN:
            return ReconcileResult.DONE
        case State.FREE | State.REFUSED:
            return ReconcileResult.NOT_DONE
        case _:
            return ReconcileResult.STILL_UNKNOWN


def charged(envelope: Envelope) -> bool:
    """Whether the declared cost of the tool applies: something was, or may have been, carried out by this call."""
    if envelope.meta.replayed or envelope.meta.attempts == 0:
        return False
    return envelope.error is None or envelope.error.outcome is not CallOutcome.NOT_EXECUTED
