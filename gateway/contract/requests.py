"""What a front may ask of the core besides a tool call, and what it is told. Standard library only.

Answers that can fail are envelopes (`envelope.py`); the values here are the questions, and the few answers that are
data of the gateway itself.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final

OPERATIONS_READ: Final = "operations:read"
"""See the operations of every subject of the own tenant."""
OPERATIONS_SETTLE: Final = "operations:settle"
"""Say, with evidence, how an operation ended."""
EXECUTIONS_READ: Final = "executions:read"
"""See the execution rows of every subject of the own tenant, and the signals made of them."""
BREAKERS_READ: Final = "operator:breakers"
"""See the circuit breakers, which tenants share."""
BREAKERS_FORCE: Final = "operator:breakers:force"
"""Open or close one by one's own word, for all tenants."""

DEFAULT_LIMIT: Final = 100
MAX_LIMIT: Final = 1000


class StartRefusedError(Exception):
    """The gateway must not start: why, in one sentence of its own that may be logged as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSummary:
    """One tool of the catalogue as a caller sees it: the manifest without its backend.

    Attributes:
        effect: `read`, `idempotent` or `write`.
        arguments: the published JSON Schema of the arguments.
        result: the JSON Schema of `data`; None when the manifest declares none.
        needs_run_id: calls without `run.id` are refused (`scope: run`).
        needs_key: calls without an `Idempotency-Key` are refused (`fields: caller`).
        window_s: how long a finished write is remembered; after it the same call acts again. None: for ever.
        verify_with: the read that tells whether an action of this tool was carried out; None when there is none.
        deprecated: `{since, use_instead, remove_after}`, or None.
        quarantined: it is not called now: its MCP server shows another tool than the reviewed one.
    """

    name: str
    version: str
    digest: str
    title: str
    description: str
    effect: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    needs_run_id: bool = False
    needs_key: bool = False
    window_s: float | None = None
    verify_with: str | None = None
    deprecated: Mapping[str, Any] | None = None
    quarantined: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The native catalogue entry."""
        return {
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "title": self.title,
            "description": self.description,
            "effect": self.effect,
            "arguments": dict(self.arguments),
            "result": None if self.result is None else dict(self.result),
            "needs_run_id": self.needs_run_id,
            "needs_key": self.needs_key,
            "window_s": self.window_s,
            "verify_with": self.verify_with,
            "deprecated": None if self.deprecated is None else dict(self.deprecated),
            "quarantined": self.quarantined,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationQuery:
    """`GET /v1/operations`: conditions that all hold; newest first.

    Attributes:
        key: an operation key (`data.operation_key` of `prepare`).
        states: as `operation/record.py` names them; the front has turned `unknown` into the listening and the closed one.
    """

    key: str | None = None
    states: frozenset[str] | None = None
    run_id: str | None = None
    tool: str | None = None
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionQuery:
    """`GET /v1/executions`: conditions that all hold; newest first. `since_wall` is seconds since 1970 UTC."""

    run_id: str | None = None
    tool: str | None = None
    code: str | None = None
    operation_id: str | None = None
    trace_id: str | None = None
    since_wall: float | None = None
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalQuery:
    """`GET /v1/signals`: of one tool or of all, from rows not older than `since_wall` (seconds since 1970 UTC)."""

    tool: str | None = None
    since_wall: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuery:
    """`GET /v1/approvals`: conditions that all hold; newest first. `statuses` as `approval/record.py` names them."""

    statuses: frozenset[str] | None = None
    run_id: str | None = None
    tool: str | None = None
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRequest:
    """A person's word about one approval: yes or no, and nothing about the action itself.

    Attributes:
        note: in the approver's own words; kept with the decision.
    """

    approve: bool
    note: str | None = None


class SettledAs(StrEnum):
    """How an operator says an operation ended."""

    EXECUTED = "executed"
    NOT_EXECUTED = "not_executed"
    """The same call may be made again."""
    REFUSED = "refused"
    """Nor will it be: the service said no, and the same call gets that answer for as long as a refusal is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleRequest:
    """An operator's word about one operation.

    Attributes:
        evidence: what the word rests on, in the operator's own words; kept with the settlement.
        result: with `executed`, the result as the tool would have given it; None when only the effect is known.
    """

    settled_as: SettledAs
    evidence: str
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether calls should be sent here.

    Attributes:
        warnings: what works, but not as it should; each a sentence.
        checks: what was looked at, and `ok` or a sentence; for a person who reads `/readyz`.
    """

    ready: bool
    draining: bool = False
    warnings: tuple[str, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The body of `/readyz`."""
        return {
            "ready": self.ready,
            "draining": self.draining,
            "warnings": list(self.warnings),
            "checks": dict(self.checks),
        }


class BreakerWord(StrEnum):
    """What an operator says of a breaker."""

    OPEN = "open"
    """Nothing is sent, not even a look-up."""
    CLOSED = "closed"
    """No failure opens it."""
    AUTO = "auto"
    """An earlier word is taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceRequest:
    """An operator's word about one breaker.

    Attributes:
        reason: in the operator's own words, one line; whoever is refused because of it is told. None with `auto`.
        for_s: how long the word holds, in seconds; 0 with `auto`.
    """

    word: BreakerWord
    reason: str | None = None
    for_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedView:
    """An operator's word that is in force, and for how many more seconds."""

    to: str
    reason: str
    for_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerView:
    """One circuit breaker. `retry_after_s` is None while it is closed, `forced` where nobody forced it."""

    scope: str
    state: str
    failures: int = 0
    since_wall: float | None = None
    retry_after_s: float | None = None
    forced: ForcedView | None = None

    def to_dict(self) -> dict[str, Any]:
        """One entry of `GET /v1/breakers`."""
        return asdict(self)
