"""What a broken exchange proves, by the phase it had reached.

Before SENT nothing has left, whatever went wrong. From SENT on without a status, nothing is proved, whatever went
wrong: the fault only chooses the word.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.stages.execute.attempt.exchange import Fault
from gateway.stages.execute.attempt.outcome import Done, NotSent, Unknown

_C = ErrorCode


def _not_sent(code: ErrorCode, *, retryable: bool) -> NotSent:
    return NotSent(code=code, retryable=retryable)


NOT_SENT: Final[Mapping[Fault, NotSent]] = MappingProxyType(
    {
        Fault.BAD_REQUEST: _not_sent(_C.GATEWAY_CONFIG_ERROR, retryable=False),
        Fault.POOL_TIMEOUT: _not_sent(_C.GATEWAY_SATURATED, retryable=True),
        Fault.DEADLINE: _not_sent(_C.DEADLINE_BEFORE_SEND, retryable=True),
        Fault.DNS_FAILED: _not_sent(_C.DNS_FAILED, retryable=True),
        Fault.EGRESS_REFUSED: _not_sent(_C.HOST_NOT_ALLOWED, retryable=False),
        Fault.CONNECT_TIMEOUT: _not_sent(_C.CONNECT_TIMEOUT, retryable=True),
        Fault.CONNECT_FAILED: _not_sent(_C.CONNECT_FAILED, retryable=True),
        Fault.TLS_FAILED: _not_sent(_C.TLS_FAILED, retryable=True),
        Fault.TLS_TIMEOUT: _not_sent(_C.TLS_FAILED, retryable=True),
        Fault.TLS_UNTRUSTED: _not_sent(_C.TLS_UNTRUSTED, retryable=False),
        Fault.CREDENTIAL_REFUSED: _not_sent(_C.DOWNSTREAM_AUTH, retryable=False),
        Fault.TOOL_CHANGED: _not_sent(_C.TOOL_QUARANTINED, retryable=False),
        # Why the gate raised is the pipeline's to read from `Exchange.cause`; to go on is not this table's to allow.
        Fault.GATE_REFUSED: _not_sent(_C.STORE_UNAVAILABLE, retryable=False),
        Fault.CONNECTION_LOST: _not_sent(_C.CONNECT_FAILED, retryable=True),
        Fault.ABORTED: _not_sent(_C.DRAINING, retryable=False),
    }
)
"""Faults of an exchange that ended before SENT; any other there is our own mistake, `gateway_error`."""

UNKNOWN: Final[Mapping[Fault, Unknown]] = MappingProxyType(
    {
        Fault.WRITE_TIMEOUT: Unknown(code=_C.TIMEOUT_UNKNOWN_OUTCOME),
        Fault.READ_TIMEOUT: Unknown(code=_C.TIMEOUT_UNKNOWN_OUTCOME),
        Fault.CONNECT_TIMEOUT: Unknown(code=_C.TIMEOUT_UNKNOWN_OUTCOME),
        Fault.MALFORMED: Unknown(code=_C.MALFORMED_RESPONSE),
        Fault.TLS_CLIENT_REFUSED: Unknown(code=_C.OUTCOME_UNKNOWN, hint="mtls"),
        Fault.INTERNAL: Unknown(code=_C.GATEWAY_ERROR_UNKNOWN_OUTCOME),
        Fault.BAD_REQUEST: Unknown(code=_C.GATEWAY_ERROR_UNKNOWN_OUTCOME),
    }
)
"""Faults from SENT on without an answer; any other there is `outcome_unknown`, connect errors of a transport that
knows no phase included."""

READ_FAILED: Final[Mapping[Fault, ErrorCode]] = MappingProxyType(
    {
        Fault.WRITE_TIMEOUT: _C.DOWNSTREAM_TIMEOUT,
        Fault.READ_TIMEOUT: _C.DOWNSTREAM_TIMEOUT,
        Fault.CONNECT_TIMEOUT: _C.DOWNSTREAM_TIMEOUT,
        Fault.INTERNAL: _C.GATEWAY_ERROR,
        Fault.BAD_REQUEST: _C.GATEWAY_ERROR,
    }
)
"""The same for a read, of which nobody needs to ask whether it happened; any other is `unavailable`."""

RESULT_FAULTS: Final[Mapping[Fault, ErrorCode]] = MappingProxyType(
    {Fault.BODY_TOO_LARGE: _C.RESULT_TOO_LARGE, Fault.BAD_ENCODING: _C.RESULT_UNREADABLE}
)
"""What became of the body of an answer that proves Done; any other fault lost it."""


def not_sent(fault: Fault | None) -> NotSent:
    """The outcome of an exchange that ended before SENT."""
    return NOT_SENT.get(fault, _OUR_MISTAKE) if fault else _OUR_MISTAKE


def unknown(fault: Fault | None, *, read: bool) -> Unknown:
    """The outcome of an exchange that ended from SENT on without a status."""
    fault = fault or Fault.INTERNAL
    found = UNKNOWN.get(fault, _NOTHING_PROVED)
    return Unknown(code=READ_FAILED.get(fault, _C.UNAVAILABLE), hint=found.hint) if read else found


def result_code(fault: Fault | None, code: str | None) -> str | None:
    """The code of a Done whose body may have met `fault`; `code` is what its status says by itself."""
    return code if fault is None else RESULT_FAULTS.get(fault, _C.DONE_RESULT_LOST)


def body_is_whole(done: Done) -> bool:
    """Whether the answer's body may be read as the result."""
    return done.code not in _NOT_WHOLE


_NOT_WHOLE: Final = frozenset({*RESULT_FAULTS.values(), _C.DONE_RESULT_LOST})
_OUR_MISTAKE: Final = _not_sent(_C.GATEWAY_ERROR, retryable=False)
_NOTHING_PROVED: Final = Unknown(code=_C.OUTCOME_UNKNOWN)
