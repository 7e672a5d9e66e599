"""The table of faults, held against the phases and the facts of its codes."""

import pytest

from gateway.contract.codes import FACTS, CallOutcome, ErrorCode
from gateway.stages.execute.attempt.exchange import Answer, Fault
from gateway.stages.execute.attempt.faults import body_is_whole, not_sent, result_code, unknown
from gateway.stages.execute.attempt.outcome import Done, NotSent, Unknown


@pytest.mark.parametrize(
    ("fault", "code", "retryable"),
    [
        (Fault.BAD_REQUEST, "gateway_config_error", False),
        (Fault.POOL_TIMEOUT, "gateway_saturated", True),
        (Fault.DEADLINE, "deadline_before_send", True),
        (Fault.DNS_FAILED, "dns_failed", True),
        (Fault.EGRESS_REFUSED, "host_not_allowed", False),
        (Fault.CREDENTIAL_REFUSED, "downstream_auth", False),
        (Fault.TOOL_CHANGED, "tool_quarantined", False),
        (Fault.CONNECT_TIMEOUT, "connect_timeout", True),
        (Fault.CONNECT_FAILED, "connect_failed", True),
        (Fault.TLS_FAILED, "tls_failed", True),
        (Fault.TLS_TIMEOUT, "tls_failed", True),
        (Fault.TLS_UNTRUSTED, "tls_untrusted", False),
        (Fault.GATE_REFUSED, "store_unavailable", False),
        (Fault.CONNECTION_LOST, "connect_failed", True),
        (Fault.ABORTED, "draining", False),
        (Fault.INTERNAL, "gateway_error", False),
        (Fault.RESET, "gateway_error", False),
        (None, "gateway_error", False),
    ],
)
def test_before_sending_every_fault_is_not_sent(fault: Fault | None, code: str, *, retryable: bool) -> None:
    """The fault chooses the code; that nothing left is the phase's word."""
    assert not_sent(fault) == NotSent(code=code, retryable=retryable)


@pytest.mark.parametrize(
    ("fault", "write", "read"),
    [
        (Fault.WRITE_TIMEOUT, "timeout_unknown_outcome", "downstream_timeout"),
        (Fault.READ_TIMEOUT, "timeout_unknown_outcome", "downstream_timeout"),
        (Fault.CONNECT_TIMEOUT, "timeout_unknown_outcome", "downstream_timeout"),
        (Fault.RESET, "outcome_unknown", "unavailable"),
        (Fault.DISCONNECTED, "outcome_unknown", "unavailable"),
        (Fault.ABORTED, "outcome_unknown", "unavailable"),
        (Fault.CONNECT_FAILED, "outcome_unknown", "unavailable"),
        (Fault.MALFORMED, "malformed_response", "unavailable"),
        (Fault.BODY_TOO_LARGE, "outcome_unknown", "unavailable"),
        (Fault.INTERNAL, "gateway_error_unknown_outcome", "gateway_error"),
        (Fault.BAD_REQUEST, "gateway_error_unknown_outcome", "gateway_error"),
        (None, "gateway_error_unknown_outcome", "gateway_error"),
    ],
)
def test_after_sending_every_fault_is_unknown(fault: Fault | None, write: str, read: str) -> None:
    """For a write it may have happened; for a read it only failed."""
    assert unknown(fault, read=False) == Unknown(code=write)
    assert unknown(fault, read=True) == Unknown(code=read)


def test_a_refused_client_certificate_is_hinted_at() -> None:
    """TLS 1.3 refuses it after the request was written, so the outcome stays unknown and the operator gets a hint."""
    assert unknown(Fault.TLS_CLIENT_REFUSED, read=False) == Unknown(code="outcome_unknown", hint="mtls")
    assert unknown(Fault.TLS_CLIENT_REFUSED, read=True) == Unknown(code="unavailable", hint="mtls")


@pytest.mark.parametrize("fault", [None, *Fault])
def test_codes_agree_with_the_phase(fault: Fault | None) -> None:
    """No code of an unsent request admits an effect; none of a sent write denies it; none of a read asks about it."""
    assert FACTS[ErrorCode(not_sent(fault).code)].outcome is CallOutcome.NOT_EXECUTED
    assert FACTS[ErrorCode(unknown(fault, read=False).code)].outcome is CallOutcome.UNKNOWN
    assert FACTS[ErrorCode(unknown(fault, read=True).code)].outcome is CallOutcome.NOT_EXECUTED


@pytest.mark.parametrize(
    ("fault", "code", "whole"),
    [
        (None, None, True),
        (Fault.BODY_TOO_LARGE, "result_too_large", False),
        (Fault.BAD_ENCODING, "result_unreadable", False),
        (Fault.RESET, "done_result_lost", False),
        (Fault.READ_TIMEOUT, "done_result_lost", False),
    ],
)
def test_a_lost_body_is_told_beside_the_outcome(fault: Fault | None, code: str | None, *, whole: bool) -> None:
    """The fault says what became of the result of something done."""
    done = Done(status=200, answer=Answer(status=200, headers=(), body=b""), code=result_code(fault, None))

    assert (done.code, body_is_whole(done)) == (code, whole)
