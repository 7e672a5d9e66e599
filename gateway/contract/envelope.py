"""The envelope: the one shape of every answer, on every path.

Frozen values with a cheap `to_dict`; `succeed` and `fail` are the only constructors callers need. Standard library
only: `agent_client` imports it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Final

from gateway.contract.codes import FACTS, CallOutcome, ErrorCode, NextAction
from gateway.contract.quick import quick

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolError:
    """What went wrong and what to do now. `message` may be the only sentence a model reads.

    Attributes:
        retryable: the same call, unchanged, may be sent again.
        retry_after_s: seconds to wait before that; None when nobody knows or it does not matter.
        details: structured facts (names of arguments, states); never text from a tool.
    """

    code: ErrorCode
    message: str
    outcome: CallOutcome
    retryable: bool
    retry_after_s: float | None
    next_action: NextAction
    details: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        # `str` and not `.value`, which is a Python function of the enumeration's and costs five times as much.
        return {
            "code": str(self.code),
            "message": self.message,
            "outcome": str(self.outcome),
            "retryable": self.retryable,
            "retry_after_s": self.retry_after_s,
            "next_action": str(self.next_action),
            "details": dict(self.details),
        }


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Where an answer comes from.

    Attributes:
        attempts: sends of this call, 0 when nothing was sent.
        elapsed_ms: from the arrival of the request to its answer.
        idempotency_key: the caller's own key, when one came.
        replayed: `data` is a stored answer of an earlier call.
        recorded: the operation record holds this answer durably.
        source: the dependency that answered, `breaker.scope` of the manifest.
        fetched_at: RFC 3339 UTC, when the dependency answered; on a replay, when the first call was answered.
        truncated: in words, what was cut, filtered or is stale. None: nothing.
        warnings: gateway-owned sentences.
    """

    request_id: str
    tool: str | None = None
    tool_version: str | None = None
    manifest_digest: str | None = None
    operation_id: str | None = None
    run_id: str | None = None
    step: int | None = None
    attempts: int = 0
    elapsed_ms: int = 0
    idempotency_key: str | None = None
    replayed: bool = False
    recorded: bool = False
    store_epoch: str | None = None
    source: str | None = None
    fetched_at: str | None = None
    truncated: str | None = None
    trace_id: str | None = None
    approval_id: str | None = None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "operation_id": self.operation_id,
            "request_id": self.request_id,
            "tool": self.tool,
            "tool_version": self.tool_version,
            "manifest_digest": self.manifest_digest,
            "run_id": self.run_id,
            "step": self.step,
            "attempts": self.attempts,
            "elapsed_ms": self.elapsed_ms,
            "idempotency_key": self.idempotency_key,
            "replayed": self.replayed,
            "recorded": self.recorded,
            "store_epoch": self.store_epoch,
            "source": self.source,
            "fetched_at": self.fetched_at,
            "truncated": self.truncated,
            "trace_id": self.trace_id,
            "approval_id": self.approval_id,
            "warnings": list(self.warnings),
        }


_META: Final = tuple(field.name for field in fields(Meta))


# Its fields by their places: one is made for each rate of each call, and names would cost as much again.
@quick
@dataclass(frozen=True, slots=True)
class Share:
    """One rate that the call was counted by.

    Attributes:
        name: of the rate, ASCII.
        quota: calls it lets through at once, and in each `window_s` seconds.
        left: calls that it would let through now.
        reset_s: until it lets the next call through, where it let none; else until `quota` are left again.
    """

    name: str
    quota: int
    window_s: int
    left: int
    reset_s: int


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """`ok` true: `error` is None. `ok` false: `data` is None and `error` is not.

    `shares` is no part of the wire form: a front writes it as its protocol does.

    Raises:
        ValueError: on construction, when that does not hold.
    """

    ok: bool
    data: Any
    error: ToolError | None
    meta: Meta
    shares: tuple[Share, ...] = ()

    def __post_init__(self) -> None:
        if self.ok is not (self.error is None):
            raise ValueError("an envelope is ok, or it has an error")
        if self.error is not None and self.data is not None:
            raise ValueError("an envelope with an error has no data")

    @property
    def status(self) -> int:
        """The HTTP status this envelope is sent with."""
        return 200 if self.error is None else FACTS[self.error.code].status

    def to_dict(self) -> dict[str, Any]:
        """The wire form. `data` is passed on as it is, not copied."""
        return {
            "ok": self.ok,
            "data": self.data,
            "error": None if self.error is None else self.error.to_dict(),
            "meta": self.meta.to_dict(),
        }


def succeed(data: Any, meta: Meta, shares: tuple[Share, ...] = ()) -> Envelope:
    """The envelope of a call that is proved done, with its result."""
    return Envelope(ok=True, data=data, error=None, meta=meta, shares=shares)


def fail(
    code: ErrorCode,
    meta: Meta,
    *,
    message: str | None = None,
    details: Mapping[str, Any] = _NOTHING,
    retry_after_s: float | None = None,
    next_action: NextAction | None = None,
    retryable: bool | None = None,
) -> Envelope:
    """The envelope of any other call. What is left out comes from the code's row of facts.

    The outcome cannot be chosen: it belongs to the code.
    """
    row = FACTS[code]
    error = ToolError(
        code=code,
        message=row.sentence if message is None else message,
        outcome=row.outcome,
        retryable=row.retryable if retryable is None else retryable,
        retry_after_s=row.retry_after_s if retry_after_s is None else retry_after_s,
        next_action=row.next_action if next_action is None else next_action,
        details=details,
    )
    return Envelope(ok=False, data=None, error=error, meta=meta)


def parse_envelope(document: Mapping[str, Any]) -> Envelope:
    """Read an envelope from its wire form. Unknown fields are left out: a newer gateway may send more.

    Raises:
        ValueError: when a field is missing, or `ok`, `data` and `error` contradict each other, or the code is unknown.
    """
    try:
        meta = {name: document["meta"][name] for name in _META}
        meta["warnings"] = tuple(meta["warnings"])
        error = document["error"]
        return Envelope(
            ok=document["ok"],
            data=document["data"],
            error=None if error is None else parse_error(error),
            meta=Meta(**meta),
        )
    except (KeyError, TypeError) as missing:
        raise ValueError(f"not an envelope: {missing!r}") from missing


def parse_error(error: Mapping[str, Any]) -> ToolError:
    """Read an error from its wire form, which `ToolError.to_dict` wrote. Raises KeyError, TypeError or ValueError."""
    return ToolError(
        code=ErrorCode(error["code"]),
        message=error["message"],
        outcome=CallOutcome(error["outcome"]),
        retryable=error["retryable"],
        retry_after_s=error["retry_after_s"],
        next_action=NextAction(error["next_action"]),
        details=error["details"],
    )
