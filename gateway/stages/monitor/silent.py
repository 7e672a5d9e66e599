"""Telemetry that does nothing: for tests, and what a call gets when its telemetry could not be started."""

from collections.abc import Callable, Iterable, Mapping

from gateway.contract.envelope import Envelope
from gateway.contract.execution import RowKind
from gateway.manifest.policies import Cost
from gateway.stages.execute.attempt.exchange import Exchange
from gateway.stages.execute.attempt.outcome import Outcome
from gateway.stages.execute.breaker.breaker import State
from gateway.stages.monitor.ports import (
    AttemptFacts,
    IdempotencyResult,
    LinkType,
    McpFacts,
    ReconcileMethod,
    ReconcileResult,
    TracedTool,
    UnknownOperations,
)


class SilentAttempt:
    """An `AttemptTrace` that passes on what came in and records nothing."""

    __slots__ = ("traceparent", "tracestate")

    def __init__(self, traceparent: str | None = None, tracestate: str | None = None) -> None:
        self.traceparent = traceparent
        self.tracestate = tracestate

    def ended(self, exchange: Exchange | None, outcome: Outcome) -> None:
        pass


class SilentReconcile:
    """A `ReconcileTrace` that records nothing."""

    __slots__ = ()
    trace_id: str | None = None

    def attempt(self, facts: AttemptFacts) -> SilentAttempt:  # noqa: ARG002 - a port's signature
        return SilentAttempt()

    def ended(self, result: ReconcileResult, *, operation_id: str | None = None) -> None:
        pass


class SilentCall:
    """A `CallTrace` that records nothing; the caller's own trace context goes on downstream."""

    __slots__ = ("traceparent", "tracestate")
    trace_id: str | None = None

    def __init__(self, traceparent: str | None = None, tracestate: str | None = None) -> None:
        self.traceparent = traceparent
        self.tracestate = tracestate

    def attempt(self, facts: AttemptFacts) -> SilentAttempt:  # noqa: ARG002 - a port's signature
        return SilentAttempt(self.traceparent, self.tracestate)

    def reconcile(self, method: ReconcileMethod) -> SilentReconcile:  # noqa: ARG002 - a port's signature
        return SilentReconcile()

    def link(self, traceparent: str | None, kind: LinkType) -> None:
        pass

    def capture(self, arguments: Mapping[str, object]) -> None:
        pass

    def asked(self, breaker: State, *, waited_s: float | None = None, admitted: bool = False) -> None:
        pass

    def ended(
        self,
        envelope: Envelope,
        *,
        idempotency: IdempotencyResult = IdempotencyResult.NONE,
        deadline_s: float | None = None,
        deadline_left_s: float | None = None,
        result_bytes: int | None = None,
        cost: Cost | None = None,
        user_hash: str | None = None,
    ) -> None:
        pass

    def abandoned(self) -> None:
        pass


class SilentRequest:
    """A `RequestTrace` that passes on what came in and records nothing."""

    __slots__ = ("traceparent", "tracestate")

    def __init__(self, traceparent: str | None = None, tracestate: str | None = None) -> None:
        self.traceparent = traceparent
        self.tracestate = tracestate

    def ended(self, status: int, mcp: McpFacts | None = None) -> None:
        pass


class Silent:
    """A `Telemetry` that records nothing."""

    __slots__ = ()

    def request_started(
        self,
        method: str,  # noqa: ARG002 - a port's signature
        route: str | None,  # noqa: ARG002
        *,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> SilentRequest:
        return SilentRequest(traceparent, tracestate)

    def call_started(
        self,
        tool: TracedTool | None,  # noqa: ARG002 - a port's signature
        *,
        traceparent: str | None = None,
        tracestate: str | None = None,
        run_id: str | None = None,  # noqa: ARG002
        arrived_at: float | None = None,  # noqa: ARG002
    ) -> SilentCall:
        return SilentCall(traceparent, tracestate)

    def reconciliation_started(
        self,
        tool: TracedTool | None,  # noqa: ARG002 - a port's signature
        method: ReconcileMethod,  # noqa: ARG002
        *,
        original: str | None,  # noqa: ARG002
    ) -> SilentReconcile:
        return SilentReconcile()

    def quarantined(self, tool: str, *, held: bool) -> None:
        pass

    def breaker_changed(self, scope: str, was: State, now: State) -> None:
        pass

    def fenced(self) -> None:
        pass

    def rows_written(self, kind: RowKind, count: int = 1) -> None:
        pass

    def rows_failed(self, kind: RowKind, count: int = 1) -> None:
        pass

    def manifests_loaded(self, tools: Iterable[TracedTool]) -> None:
        pass

    def config_reloaded(self, *, accepted: bool) -> None:
        pass

    def watch_unknown(self, read: Callable[[], Mapping[str, UnknownOperations]]) -> None:
        pass

    def render_prometheus(self) -> bytes:
        return b""
