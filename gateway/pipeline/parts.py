"""What the pipeline is driven with: every door to the world, and what an operator chose."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.clock import Clock
from gateway.manifest.catalog import Catalogue
from gateway.manifest.tool import Tool
from gateway.stages.execute.approval.ports import NOBODY, Approvers
from gateway.stages.execute.attempt.ports import ToolTransport
from gateway.stages.execute.breaker.guard import Guard
from gateway.stages.execute.breaker.ports import Bulkheads, RateLimits, Spending
from gateway.stages.execute.breaker.quotas import OperatorRates
from gateway.stages.execute.operation.ports import OperationStore
from gateway.stages.monitor.ports import Telemetry
from gateway.stages.retry.ports import RetryBudgets

VOLATILE: Final = "the store forgets when it ends, and --allow-volatile is not set"
"""Why a plain write is refused, in the words of a sentence."""

Faults = Callable[[str, BaseException], None]
"""Told where, and of which fault that no caller is told of in full."""


class Chance(Protocol):
    """The one door through which chance comes in."""

    def draw(self) -> float:
        """A number in [0, 1), for jitter."""
        ...

    def ulid(self) -> str:
        """A new time-ordered identifier."""
        ...

    def token(self) -> str:
        """A new secret that names one owner."""
        ...


class Tools(Protocol):
    """The manifests in use: one immutable snapshot at a time."""

    @property
    def catalogue(self) -> Catalogue:
        """The tools in use. A call asks once and goes on with what it got."""
        ...

    def compile(self, canonical: bytes) -> Tool | None:
        """The tool of a pinned manifest; None when this version or this operator cannot load it any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What an operator chose for the whole gateway: times, numbers, switches, a key.

    Attributes:
        lease_s: how long an owner that falls silent keeps its claim.
        waiters: calls that may wait for one operation; more get `idempotency_in_progress` at once.
        sweep_interval_s: how often records in need of care are looked for.
        hash_key: HMAC key for argument hashes in rows.
        retention_s: bodies of settled records of tools that are not in the catalogue any more are dropped after this.
        sync_rows: every read's row is durable before its caller is answered, whatever its manifest says.
        rates: over all tools, beside what their manifests say.
        allow_volatile: plain writes may go out although the store forgets them when its process ends.
    """

    lease_s: float
    waiters: int
    sweep_interval_s: float
    hash_key: bytes
    retention_s: float
    sync_rows: bool
    allow_volatile: bool
    rates: OperatorRates


async def _nothing() -> None:
    """Most transports have nothing to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One of each. `let_go` ends what the transport has started and keeps running; `quarantined` names the tools that it
    does not call because their server shows another tool than the reviewed one.
    """

    tools: Tools
    store: OperationStore
    transport: ToolTransport
    clock: Clock
    chance: Chance
    guard: Guard
    bulkheads: Bulkheads
    rates: RateLimits
    spending: Spending
    budgets: RetryBudgets
    telemetry: Telemetry
    choices: Choices
    faults: Faults
    approvers: Approvers = NOBODY
    """Asked before what somebody allowed is done."""
    let_go: Callable[[], Awaitable[None]] = _nothing
    quarantined: Callable[[], Collection[str]] = tuple
    caveats: Callable[[], Collection[str]] = tuple
    """What of the gateway's own files works, but not as it should: sentences for readiness."""
