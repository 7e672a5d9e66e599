"""One table from faults to httpx's classes, and the way back."""

import httpx
import pytest

from gateway.adapters.http_tool.errors import ERRORS, error_of, fault_of, phase_of, with_phase
from gateway.stages.execute.attempt.exchange import Exchange, Fault, Phase

# What each is called.
CLASSES = {
    Fault.POOL_TIMEOUT: "PoolTimeout",
    Fault.DEADLINE: "ConnectTimeout",
    Fault.DNS_FAILED: "ConnectError",
    Fault.EGRESS_REFUSED: "ConnectError",
    Fault.CONNECT_TIMEOUT: "ConnectTimeout",
    Fault.CONNECT_FAILED: "ConnectError",
    Fault.TLS_FAILED: "ConnectError",
    Fault.TLS_TIMEOUT: "ConnectTimeout",
    Fault.TLS_UNTRUSTED: "ConnectError",
    Fault.CREDENTIAL_REFUSED: "ConnectError",
    Fault.TOOL_CHANGED: "ConnectError",
    Fault.CONNECTION_LOST: "ConnectError",
    Fault.WRITE_TIMEOUT: "WriteTimeout",
    Fault.READ_TIMEOUT: "ReadTimeout",
    Fault.RESET: "ReadError",
    Fault.TLS_CLIENT_REFUSED: "ReadError",
    Fault.DISCONNECTED: "RemoteProtocolError",
    Fault.MALFORMED: "RemoteProtocolError",
    Fault.BODY_TOO_LARGE: "ReadError",
    Fault.BAD_ENCODING: "DecodingError",
    Fault.BAD_REQUEST: "LocalProtocolError",
    Fault.ABORTED: "CloseError",
}


def test_every_fault_has_a_class() -> None:
    """Nothing that can happen is without a name."""
    assert set(ERRORS) == set(Fault)


@pytest.mark.parametrize("fault", CLASSES)
@pytest.mark.parametrize("phase", [Phase.NONE, Phase.SENT, Phase.BODY])
def test_an_error_is_httpxs_own_and_carries_its_phase(fault: Fault, phase: Phase) -> None:
    """Its class, not one of ours; its words, and the phase that proves something."""
    request = httpx.Request("GET", "http://pay.example")

    error = error_of(Exchange(phase=phase, fault=fault, detail="in words", cause=OSError()), request)

    assert (type(error).__name__, type(error).__module__) == (CLASSES[fault], "httpx")
    assert isinstance(error, httpx.RequestError)
    assert (str(error), error.request, phase_of(error)) == ("in words", request, phase)
    assert isinstance(error.__cause__, OSError)


@pytest.mark.parametrize("fault", [Fault.GATE_REFUSED, Fault.INTERNAL])
def test_what_the_gate_raised_is_raised_as_it_is(fault: Fault) -> None:
    """So are our own mistakes; both with their phase."""
    cause = PermissionError("the lease was lost")

    error = error_of(Exchange(phase=Phase.CONNECTED, fault=fault, cause=cause))

    assert error is cause
    assert phase_of(error) is Phase.CONNECTED


def test_an_exchange_that_did_not_fail_has_no_error() -> None:
    """Asking for it is a mistake."""
    with pytest.raises(ValueError, match="did not fail"):
        error_of(Exchange(phase=Phase.COMPLETE))


def test_nobodys_word_on_the_phase_means_sent() -> None:
    """That assumes nothing: not even a ConnectError proves that nothing left."""
    assert phase_of(httpx.ConnectError("refused")) is Phase.SENT
    assert phase_of(with_phase(httpx.ConnectError("refused"), Phase.CONNECTING)) is Phase.CONNECTING


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (httpx.PoolTimeout(""), Fault.POOL_TIMEOUT),
        (httpx.ConnectTimeout(""), Fault.CONNECT_TIMEOUT),
        (httpx.ConnectError(""), Fault.CONNECT_FAILED),
        (httpx.WriteTimeout(""), Fault.WRITE_TIMEOUT),
        (httpx.ReadTimeout(""), Fault.READ_TIMEOUT),
        (httpx.ReadError(""), Fault.RESET),
        (httpx.WriteError(""), Fault.RESET),
        (httpx.CloseError(""), Fault.RESET),
        (httpx.RemoteProtocolError(""), Fault.MALFORMED),
        (httpx.LocalProtocolError(""), Fault.BAD_REQUEST),
        (httpx.UnsupportedProtocol(""), Fault.BAD_REQUEST),
        (httpx.DecodingError(""), Fault.BAD_ENCODING),
        (TimeoutError(), Fault.READ_TIMEOUT),
        (httpx.ProxyError(""), Fault.INTERNAL),
        (RuntimeError(), Fault.INTERNAL),
    ],
)
def test_a_foreign_error_gets_the_nearest_fault(error: Exception, fault: Fault) -> None:
    """Only a word for people: what it proves is its phase's to say."""
    assert fault_of(error) is fault
