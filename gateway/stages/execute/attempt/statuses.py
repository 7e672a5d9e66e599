"""What an HTTP status proves about a write, before the manifest has its say.

REFUSED means proved not done, DONE proved done; what proves neither is UNKNOWN. 502, 503 and 504 are UNKNOWN because
a proxy in front of the service answers so for requests that it had already passed on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import StatusMeaning


@dataclass(frozen=True, slots=True)
class StatusRow:
    """One status.

    Attributes:
        meaning: what it proves by itself.
        code: the code that goes with that meaning; None for a plain success.
        if_refused: the code when a manifest declares it a refusal.
        if_read: the code of a read for which it proves nothing.
    """

    meaning: StatusMeaning
    code: ErrorCode | None
    if_refused: ErrorCode = ErrorCode.REJECTED
    if_read: ErrorCode = ErrorCode.UNAVAILABLE


_C, _M = ErrorCode, StatusMeaning


def _each(statuses: str, row: StatusRow) -> dict[int, StatusRow]:
    return {int(status): row for status in statuses.split()}


def _refused(code: ErrorCode) -> StatusRow:
    return StatusRow(_M.REFUSED, code, if_refused=code)


def _again(code: ErrorCode) -> StatusRow:
    return StatusRow(_M.REFUSED_RETRYABLE, code, if_refused=code)


_FAILED: Final = StatusRow(_M.UNKNOWN, _C.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME, if_refused=_C.UNAVAILABLE)
_LOST: Final = StatusRow(_M.UNKNOWN, _C.OUTCOME_UNKNOWN, if_refused=_C.UNAVAILABLE)
_LATE: Final = StatusRow(_M.UNKNOWN, _C.OUTCOME_UNKNOWN, if_refused=_C.UNAVAILABLE, if_read=_C.DOWNSTREAM_TIMEOUT)

STATUSES: Final[Mapping[int, StatusRow]] = MappingProxyType(
    _each("200 201 202 203 204 205 206", StatusRow(_M.DONE, None))
    | _each("207", StatusRow(_M.DONE, _C.PARTIAL))
    # After a POST, 302 is the common "done, see this page", and a plain move as well.
    | _each("301 302", StatusRow(_M.UNKNOWN, _C.OUTCOME_UNKNOWN, _C.REDIRECT_REFUSED, _C.REDIRECT_REFUSED))
    | _each("303", StatusRow(_M.DONE, _C.DONE_RESULT_ELSEWHERE, _C.REDIRECT_REFUSED))
    | _each("307 308", _refused(_C.REDIRECT_REFUSED))
    | _each("300 304 305 306", _refused(_C.UNEXPECTED_STATUS))
    | _each("400 405 406 411 413 414 415 416 417 421 422 426 428 431 451", _refused(_C.REJECTED))
    | _each("401 407", _refused(_C.DOWNSTREAM_AUTH))
    | _each("403", _refused(_C.DOWNSTREAM_FORBIDDEN))
    | _each("402", _refused(_C.DECLINED))
    | _each("404 410", _refused(_C.NOT_FOUND))
    | _each("408", StatusRow(_M.UNKNOWN, _C.OUTCOME_UNKNOWN, _C.DOWNSTREAM_TIMEOUT, _C.DOWNSTREAM_TIMEOUT))
    | _each("409", _refused(_C.CONFLICT))
    | _each("412", _refused(_C.PRECONDITION_FAILED))
    | _each("423", _again(_C.LOCKED))
    | _each("424", _refused(_C.REJECTED))
    | _each("425", _again(_C.TOO_EARLY))
    | _each("429", _again(_C.RATE_LIMITED))
    # nginx and the AWS load balancer: the client, that is a proxy on our side, had gone.
    | _each("499 460", _LOST)
    | _each("500", _FAILED)
    | _each("501 505", _refused(_C.UNSUPPORTED))
    | _each("504 524", _LATE)
    | _each("502 503 507 508 510 520 521 522 523 525 526", _LOST)
    # A network in between wants a login: it says nothing of the service, and nothing of it is worth keeping.
    | _each("511", _again(_C.PROXY_FAILED))
)

_UNREADABLE: Final = StatusRow(_M.UNKNOWN, _C.MALFORMED_RESPONSE)
# A status nobody knows counts as the x00 of its class (RFC 9110 15).
_CLASSES: Final[Mapping[int, StatusRow]] = MappingProxyType(
    {
        2: StatusRow(_M.DONE, None),
        3: _refused(_C.UNEXPECTED_STATUS),
        4: _refused(_C.UNEXPECTED_STATUS),
        5: _FAILED,
    }
)


def status_row(status: int) -> StatusRow:
    """What `status` proves; a number outside 200 to 599 is no final answer and proves nothing."""
    return STATUSES.get(status) or _CLASSES.get(status // 100, _UNREADABLE)
