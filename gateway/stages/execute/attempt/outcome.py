"""What we know after an attempt is a type, so that no code can confuse *never delivered* with *unknown*."""

from dataclasses import dataclass

from gateway.contract.quick import quick
from gateway.stages.execute.attempt.exchange import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSent:
    """Proved: no byte of the request reached an application."""

    code: str
    retryable: bool
    """Whether trying again can help (a refused connection can, an untrusted certificate cannot)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Proved: delivered and not done."""

    code: str
    status: int
    retryable: bool = False
    """429, 425, 423 or as declared: the same call may be sent again."""
    retry_after_s: float | None = None
    answer: Answer | None = None
    replayed: bool = False
    """The downstream said, by its declared marker, that this answer is a stored one: it settles the operation."""
    key_used: bool = False
    """It has the declared status of a key that was used with another body."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Proved: carried out. The result may still be lost or unreadable; then `code` says so."""

    status: int
    answer: Answer | None
    code: str | None = None
    """None, `done_result_lost`, `result_unreadable`, `result_too_large`, `done_result_elsewhere` (303) or `partial`
    (207). With one of the first three the answer's body is empty: half a result is none."""
    pending: bool = False
    """202: accepted, not finished."""
    replayed: bool = False
    """The downstream said, by its declared marker, that this answer is a stored one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Bytes may have left and no proof came back. For a read it is only a failure: nothing changed, try again."""

    code: str
    status: int | None = None
    retry_after_s: float | None = None
    hint: str | None = None
    """`mtls`: the peer may be refusing our client certificate."""


Outcome = NotSent | Refused | Done | Unknown
