"""Faults as httpx's own exceptions, and back. The class is for people; the phase it carries is what proves anything."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeVar

import httpx

from gateway.stages.execute.attempt.exchange import Exchange, Fault, Phase

ERRORS: Final[Mapping[Fault, type[httpx.RequestError]]] = MappingProxyType(
    {
        Fault.BAD_REQUEST: httpx.LocalProtocolError,
        Fault.POOL_TIMEOUT: httpx.PoolTimeout,
        Fault.DEADLINE: httpx.ConnectTimeout,
        Fault.DNS_FAILED: httpx.ConnectError,
        Fault.EGRESS_REFUSED: httpx.ConnectError,
        Fault.CONNECT_TIMEOUT: httpx.ConnectTimeout,
        Fault.CONNECT_FAILED: httpx.ConnectError,
        Fault.TLS_FAILED: httpx.ConnectError,
        Fault.TLS_TIMEOUT: httpx.ConnectTimeout,
        Fault.TLS_UNTRUSTED: httpx.ConnectError,
        Fault.CREDENTIAL_REFUSED: httpx.ConnectError,
        Fault.TOOL_CHANGED: httpx.ConnectError,
        Fault.GATE_REFUSED: httpx.ConnectError,
        Fault.CONNECTION_LOST: httpx.ConnectError,
        Fault.WRITE_TIMEOUT: httpx.WriteTimeout,
        Fault.READ_TIMEOUT: httpx.ReadTimeout,
        Fault.RESET: httpx.ReadError,
        Fault.TLS_CLIENT_REFUSED: httpx.ReadError,
        Fault.DISCONNECTED: httpx.RemoteProtocolError,
        Fault.MALFORMED: httpx.RemoteProtocolError,
        Fault.BODY_TOO_LARGE: httpx.ReadError,
        Fault.BAD_ENCODING: httpx.DecodingError,
        Fault.ABORTED: httpx.CloseError,
        Fault.INTERNAL: httpx.TransportError,
    }
)

# The nearest fault to a class, looked up along its ancestors; for transports that only raise.
_FAULTS: Final[Mapping[type[BaseException], Fault]] = MappingProxyType(
    {
        httpx.PoolTimeout: Fault.POOL_TIMEOUT,
        httpx.ConnectTimeout: Fault.CONNECT_TIMEOUT,
        httpx.ConnectError: Fault.CONNECT_FAILED,
        httpx.WriteTimeout: Fault.WRITE_TIMEOUT,
        httpx.TimeoutException: Fault.READ_TIMEOUT,
        httpx.LocalProtocolError: Fault.BAD_REQUEST,
        httpx.UnsupportedProtocol: Fault.BAD_REQUEST,
        httpx.RemoteProtocolError: Fault.MALFORMED,
        httpx.DecodingError: Fault.BAD_ENCODING,
        httpx.NetworkError: Fault.RESET,
        TimeoutError: Fault.READ_TIMEOUT,
    }
)

_Error = TypeVar("_Error", bound=BaseException)


def error_of(exchange: Exchange, request: httpx.Request | None = None) -> BaseException:
    """What to raise for an exchange that has a fault.

    The gate's own exception and one of our own mistakes are raised as they are, everything else as the class in
    `ERRORS`; each carries the phase (`phase_of`).

    Raises:
        ValueError: `exchange` has no fault.
    """
    fault = exchange.fault
    if fault is None:
        raise ValueError("the exchange did not fail")
    if exchange.cause is not None and fault in {Fault.GATE_REFUSED, Fault.INTERNAL}:
        return with_phase(exchange.cause, exchange.phase)
    error = with_phase(ERRORS[fault](exchange.detail, request=request), exchange.phase)
    error.__cause__ = exchange.cause
    return error


def with_phase(error: _Error, phase: Phase) -> _Error:
    """Say how far the attempt had come that `error` ended. Use it in a test to raise a proved `ConnectError`."""
    vars(error)["phase"] = phase
    return error


def phase_of(error: BaseException) -> Phase:
    """How far the attempt had come; SENT when nobody said so, since that assumes nothing."""
    phase = vars(error).get("phase")
    return phase if isinstance(phase, Phase) else Phase.SENT


def fault_of(error: BaseException) -> Fault:
    """The fault that comes nearest to the class of `error`."""
    return next((_FAULTS[kind] for kind in type(error).__mro__ if kind in _FAULTS), Fault.INTERNAL)
