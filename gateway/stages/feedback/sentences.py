"""One template a code: what happened, what to do next. `{names}` are pieces of `fragments.py`, filled from the context."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.codes import ErrorCode

_C = ErrorCode

# One line a code, so that the pages read as a table.
# fmt: off
SENTENCES: Final[Mapping[ErrorCode, str]] = MappingProxyType({
    _C.INVALID_JSON: "Nothing was executed: the body is not strict JSON{reason}. Correct it and send it again.",
    _C.INVALID_REQUEST: "Nothing was executed: the request does not have the shape this route expects{reason}. Correct it and send it again.",
    _C.INVALID_HEADER: "Nothing was executed: {header} has a value that cannot be used{reason}. Correct the header and send the call again.",
    _C.INVALID_IDEMPOTENCY_KEY: "Nothing was executed: an Idempotency-Key is 1 to 255 visible ASCII characters{reason}. Correct the header and send the call again.",
    _C.BODY_TOO_LARGE: "Nothing was executed: the request is larger than {limit}. Send less.",
    _C.UNSUPPORTED_MEDIA_TYPE: "Nothing was executed: the body must be sent as application/json. Correct Content-Type and send the call again.",
    _C.UNAUTHENTICATED: "Nothing was executed: no valid credential came with the request{reason}. Stop and report that the credential must be renewed.",
    _C.AUTHENTICATION_UNAVAILABLE: "Nothing was executed: whoever issued the credential could not be asked for the key that would prove it. Make the same call again {after}.",
    _C.ROUTE_NOT_FOUND: "Nothing was executed: there is no such route. Read /openapi.json for the routes there are.",
    _C.METHOD_NOT_ALLOWED: "Nothing was executed: the route does not take this method. Use a method named in the Allow header.",
    _C.OPERATION_NOT_FOUND: "There is no such operation among those this caller may see. Check the identifier; do not guess another.",
    _C.APPROVAL_NOT_FOUND: "There is no such approval among those this caller may see. Check the identifier; do not guess another.",
    _C.BREAKER_NOT_FOUND: "No tool has a breaker of that name. Read /v1/breakers, or breaker.scope in the manifests, for the names there are; do not guess.",

    _C.UNKNOWN_TOOL: "Nothing was executed: no tool is named {given}.{near}{tools}",
    _C.MISSING_ARGUMENTS: "Nothing was executed. {missing} Supply what is missing and call {tool} again.",
    _C.UNKNOWN_ARGUMENTS: "Nothing was executed. {extra} Remove or rename them and call {tool} again.",
    _C.WRONG_TYPE: "Nothing was executed. {mistyped} Correct it and call {tool} again.",
    _C.INVALID_ARGUMENTS: "Nothing was executed. {disallowed} Correct it and call {tool} again.",
    _C.RUN_ID_REQUIRED: "Nothing was executed: {tool} counts by run. Send run.id with the call, the same one for the whole run.",
    _C.IDEMPOTENCY_KEY_REQUIRED: "Nothing was executed: {tool} needs an Idempotency-Key header that names the operation. Send one, the same for every attempt.",
    _C.FORBIDDEN: "Nothing was executed: {needing} requires {permission}, which this session does not hold. Escalate instead of retrying.",
    _C.OVER_LIMIT: "Nothing was executed: {action} exceeds this caller's limit.{rule} {or_less}",
    _C.NOT_OWNER: "Nothing was executed: {action} names something that does not belong to this caller's customer.{rule} {or_another}",
    _C.RULE_DENIED: "Nothing was executed: a rule of {tool} does not allow {action}.{rule} {or_person}",
    _C.RULE_ERROR: "Nothing was executed: a rule of {tool} could not be evaluated{reason}. Do not retry; escalate {person}.",
    _C.RULE_LOOKUP_FAILED: "Nothing was executed: what a rule of {tool} needs to know could not be looked up{reason}. Make the same call again {after}.",
    _C.APPROVAL_REQUIRED: "Nothing was executed: {action} must be approved{approvers} first.{rule} Wait for the decision on {approval}{lapses}, then make the same call again.",
    _C.APPROVAL_MISMATCH: "Nothing was executed: {approval} is for another action than {action}, or none of this caller's. Make the call that was approved, or request an approval for this one.",
    _C.APPROVAL_EXPIRED: "Nothing was executed: {approval} of {action} has lapsed. Request a new approval for the same action.",
    _C.APPROVAL_DENIED: "Nothing was executed: {approval} of {action} was denied. Do not call {tool} again with these arguments: stop, and report that it was denied.",
    _C.REPEAT_NOT_ALLOWED: "Nothing was executed: what {tool} has done may not be repeated on purpose. Use the stored result of the first call, or escalate if a second effect is intended.",

    _C.INTENT_STALE: "Nothing was executed by this call: {action} is no longer what was prepared{reason}. Look up the prepared operation, then prepare {tool} again.",
    _C.IDEMPOTENCY_CONFLICT: "Nothing was executed by this call: {taken}",
    _C.IDEMPOTENCY_IN_PROGRESS: "{Action} is being carried out by another call. Do not start another; make the same call again {after} to get its answer.",
    _C.BLOCKED_BY_UNKNOWN: "Nothing was executed by this call: {blocked}",
    _C.OPERATION_FROZEN: "For {action} there is evidence of more than one effect, or evidence that contradicts itself ({operation}). Do not call {tool} again; escalate {person}.",
    _C.NOT_RECONCILABLE: "Nothing was looked up: {tool} declares no means to settle {operation}{reason}. Escalate {person}, who can settle it with evidence.",
    _C.INVALID_SETTLEMENT: "Nothing was settled: {operation} {unsettled}{reason}. {instead}",
    _C.APPROVER_NOT_ENTITLED: "Nothing was decided about {approval}{reason}. Escalate to somebody else{entitled}.",
    _C.APPROVAL_DECIDED: "Nothing was changed: {approval} {stands}. Stop: a decision is made once. Read the approval.",

    _C.STORE_UNAVAILABLE: "Nothing was sent by this call: the record that guards {action} against happening twice cannot be written. Make the same call again {after}.",
    _C.GATEWAY_SATURATED: "Nothing was sent: the gateway is at its limit for {tool}{of_limit}. Make the same call again {after}.",
    _C.CIRCUIT_OPEN: "{service} {failing} and is being left alone. Nothing was sent. Do not call {tool} again {wait}; use a different approach or escalate.",
    _C.RATE_LIMITED: "Nothing was executed: too many calls of {tool} in a short time{of_limit}. Make the same call again {after}.",
    _C.BUDGET_EXHAUSTED: "Nothing was executed: {tool} would take this run over its budget{of_limit}. Finish without it, or escalate to someone who may raise it.",
    _C.DRAINING: "Nothing was executed: this gateway process is shutting down, or has an older manifest than another. Make the same call again {after}; another process answers.",
    _C.DEADLINE_TOO_SHORT: "Nothing was sent: the deadline leaves too little time to send {tool} and learn its outcome{deadline}. Call again with more time.",
    _C.DEADLINE_BEFORE_SEND: "Nothing was sent before the deadline. It is safe to make the same call of {tool} again with more time.",
    _C.GATEWAY_CONFIG_ERROR: "Nothing was sent: {tool} is misconfigured{reason}. Do not retry; escalate to an operator.",
    _C.GATEWAY_ERROR: "Nothing was sent: the gateway failed. Do not keep retrying {tool}; escalate to an operator.",
    _C.TOOL_QUARANTINED: "Nothing was sent: the MCP server behind {tool} shows another tool than the one that was reviewed, so it is not called. Do not retry; escalate to an operator.",

    _C.HOST_NOT_ALLOWED: "Nothing was sent: the address of {tool} is not one the operator allows. Do not retry; escalate to an operator.",
    _C.DNS_FAILED: "Nothing was delivered: the address of {tool} could not be resolved.{tries} Retry once, then escalate.",
    _C.CONNECT_TIMEOUT: "{service} did not accept a connection in time, so {action} was never delivered.{tries} It is safe to retry {after}.",
    _C.CONNECT_FAILED: "{service} could not be connected to, so {action} was never delivered.{tries} It is safe to retry {after}.",
    _C.TLS_FAILED: "The secure connection failed before {action} was sent.{tries} It is safe to retry {after}.",
    _C.TLS_UNTRUSTED: "Nothing was sent: the certificate of {tool}'s service is not trusted. Do not retry; escalate to an operator.",
    _C.PROXY_FAILED: "A network in between refused, so {action} did not reach the service.{tries} It is safe to retry {after}.",

    _C.REJECTED: "{service} refused {action}{http}; nothing was done. Correct the arguments; do not send the same call again.",
    _C.DECLINED: "{service} declined {action}{http}; nothing was done. Do not send the same call again; report the decline.",
    _C.NOT_FOUND: "{service} knows no object that {action} names{http}; nothing was done. Check the identifiers.",
    _C.CONFLICT: "{service} refused {action}{http} because of the object's present state; nothing was done. {look_first}",
    _C.PRECONDITION_FAILED: "{service} refused {action}{http} because the object has changed; nothing was done. {look_first}",
    _C.LOCKED: "{service} refused {action}{http} because the object is locked; nothing was done. Make the same call again {after}.",
    _C.TOO_EARLY: "{service} would not take {action} so early; nothing was done. Make the same call again {after}.",
    _C.UNAVAILABLE: "{service} is unavailable for {action}; nothing was done or changed.{tries} Make the same call again {after}.",
    _C.UNSUPPORTED: "{service} does not support this request of {tool}{http}; nothing was done. Do not retry; escalate to an operator.",
    _C.DOWNSTREAM_AUTH: "{service} did not accept the gateway's credential for {tool}{http}; nothing was done. Do not retry; escalate to an operator.",
    _C.DOWNSTREAM_FORBIDDEN: "{service} does not allow the gateway {action}{http}; nothing was done. Do not retry; escalate to an operator.",
    _C.DOWNSTREAM_TIMEOUT: "{service} ran out of time for {action}, and nothing was done or changed.{tries} It is safe to retry {after}.",
    _C.REDIRECT_REFUSED: "{service} pointed elsewhere{http} and redirects are not followed; {action} was not done. Do not retry; escalate to an operator.",
    _C.UNEXPECTED_STATUS: "{service} answered {action} with a status that has no meaning here{http}; nothing was done. Do not retry; escalate to an operator.",

    _C.DONE_RESULT_LOST: "{done}, but the result was lost. {read_back}",
    _C.DONE_RESULT_ELSEWHERE: "{done}; the result is kept elsewhere and redirects are not followed. {read_elsewhere}",
    _C.PARTIAL: "{done} in part{http}. {check_parts}",
    _C.RESULT_UNREADABLE: "{done}, but the result cannot be read{reason}. {read_elsewhere}",
    _C.RESULT_TOO_LARGE: "{done}, but the result is larger than {limit} and was left out. {read_less}",

    _C.TIMEOUT_UNKNOWN_OUTCOME: "No response {waited}. {Action} MAY have been carried out.{tries} {learn}",
    _C.OUTCOME_UNKNOWN: "No proof came back after sending{http}. {Action} MAY have been carried out.{tries} {learn}",
    _C.MALFORMED_RESPONSE: "The reply could not be read. {Action} MAY have been carried out.{tries} {learn}",
    _C.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME: "{service} failed{http} while handling the request. {Action} MAY have been carried out.{tries} {learn}",
    _C.IN_FLIGHT_DOWNSTREAM: "{service} is still carrying out an earlier attempt of {action}. {in_flight}",
    _C.GATEWAY_ERROR_UNKNOWN_OUTCOME: "The gateway failed after sending began. {Action} MAY have been carried out.{tries} {learn}",
})
# fmt: on
