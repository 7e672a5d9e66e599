"""The door through which a call is seen from outside.

Every method returns at once, never raises and never waits: a fault of the telemetry is counted and nothing else.
`Silent` (`silent.py`) is the implementation that does nothing. What is passed here is bounded by its type: enums,
numbers, and words of the manifest; nothing of what a caller or a tool wrote.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from gateway.contract.envelope import Envelope
from gateway.contract.execution import RowKind
from gateway.contract.quick import quick
from gateway.manifest.policies import Cost, Effect
from gateway.stages.execute.attempt.exchange import Exchange
from gateway.stages.execute.attempt.outcome import Outcome
from gateway.stages.execute.breaker.breaker import State


class TracedTool(Protocol):
    """What telemetry and rows say of a tool. `gateway.manifest.tool.Tool` is one."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def effect(self) -> Effect: ...
    @property
    def capture(self) -> tuple[str, ...]:
        """Arguments whose values may be put into spans."""
        ...

    @property
    def sensitive(self) -> frozenset[str]: ...


class IdempotencyResult(StrEnum):
    """What a call met when it looked at its record."""

    NONE = "none"
    """It did not look: a read, or refused before."""
    NEW = "new"
    REPLAYED = "replayed"
    IN_FLIGHT = "in_flight"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"
    STORE_ERROR = "store_error"


class AttemptKind(StrEnum):
    """Why an exchange was made."""

    FIRST = "first"
    RETRY = "retry"
    REPLAY = "replay"
    """The stored bytes again, in the background."""
    LOOKUP = "lookup"


class LinkType(StrEnum):
    """What a span has to do with the span of another trace."""

    ORIGINAL_EXECUTION = "original_execution"
    """The call whose stored answer this one gives."""
    RECONCILES = "reconciles"
    """The call whose outcome is being looked for."""
    APPROVAL_REQUEST = "approval_request"
    """The call that asked for the approval with which this one goes out."""
    INBOUND = "inbound"
    """The caller's span, where it is not taken as the parent."""


class ReconcileMethod(StrEnum):
    LOOKUP = "lookup"
    SAME_KEY_REPLAY = "same_key_replay"


class ReconcileResult(StrEnum):
    DONE = "done"
    NOT_DONE = "not_done"
    STILL_UNKNOWN = "still_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownOperations:
    """The operations of one tool whose outcome nobody knows."""

    count: int
    oldest_age_s: float


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFacts:
    """What is known before an attempt is made.

    Attributes:
        number: from 1, within the call or the reconciliation.
        server_address: host of the manifest's origin.
        url_template: the path as the manifest writes it, placeholders unfilled.
        timeout_s: the tool's read timeout, against which the attempt's duration is held.
        retry_delay_s: how long was waited before it.
    """

    number: int
    kind: AttemptKind
    method: str
    server_address: str
    server_port: int
    url_template: str | None = None
    timeout_s: float | None = None
    retry_delay_s: float | None = None


class AttemptTrace(Protocol):
    """One exchange with a downstream. May be ended after its call was."""

    @property
    def traceparent(self) -> str | None:
        """W3C `traceparent` for the downstream request."""
        ...

    @property
    def tracestate(self) -> str | None:
        """W3C `tracestate` to go with it, as it came in."""
        ...

    def ended(self, exchange: Exchange | None, outcome: Outcome) -> None:
        """The exchange came to its end; None when it escaped without one."""
        ...


class ReconcileTrace(Protocol):
    """One look into the world for an unknown outcome."""

    @property
    def trace_id(self) -> str | None: ...

    def attempt(self, facts: AttemptFacts) -> AttemptTrace: ...

    def ended(self, result: ReconcileResult, *, operation_id: str | None = None) -> None: ...


class CallTrace(Protocol):
    """One tool call, from its arrival to its envelope."""

    @property
    def trace_id(self) -> str | None:
        """32 hexadecimal digits, for `meta.trace_id`, the row and the record."""
        ...

    @property
    def traceparent(self) -> str | None:
        """W3C `traceparent` of the call's own span: what the record keeps, so that later traces can link to it."""
        ...

    def attempt(self, facts: AttemptFacts) -> AttemptTrace: ...

    def reconcile(self, method: ReconcileMethod) -> ReconcileTrace:
        """A reconciliation within the call."""
        ...

    def link(self, traceparent: str | None, kind: LinkType) -> None:
        """Point to another trace. Anything that is no `traceparent` is left out."""
        ...

    def capture(self, arguments: Mapping[str, object]) -> None:
        """Put into the span those validated arguments that manifest *and* operator want there; by default none."""
        ...

    def asked(self, breaker: State, *, waited_s: float | None = None, admitted: bool = False) -> None:
        """Breaker and bulkhead were asked for an attempt. Of several times the span has the last.

        Args:
            breaker: how it stood: half open also for the probe itself.
            waited_s: for a slot; None when the breaker let nobody come so far.
            admitted: there was a slot.
        """
        ...

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
        """The envelope is about to be given to the caller. Counts; a second time does nothing."""
        ...

    def abandoned(self) -> None:
        """The call ends without an envelope: its caller has gone."""
        ...


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class McpFacts:
    """What is said of the one MCP message of a request.

    Attributes:
        method: one that the protocol has, or `attributes.OTHER_METHOD`.
        version: the revision that it was understood by.
        message_id: of JSON-RPC, where it is a number or a UUID; other words are the client's own, and could be anything.
    """

    method: str
    version: str
    message_id: str | None = None


class RequestTrace(Protocol):
    """One HTTP request to the gateway. What it returns goes into `ToolCall.traceparent` and `.tracestate`."""

    @property
    def traceparent(self) -> str | None: ...
    @property
    def tracestate(self) -> str | None: ...
    def ended(self, status: int, mcp: McpFacts | None = None) -> None: ...


class Telemetry(Protocol):
    """Spans, metrics and call logs of one gateway process. Driven from the event loop's thread."""

    def request_started(
        self, method: str, route: str | None, *, traceparent: str | None = None, tracestate: str | None = None
    ) -> RequestTrace:
        """A request was routed. `route` is the template of the route that matched, None for none."""
        ...

    def call_started(
        self,
        tool: TracedTool | None,
        *,
        traceparent: str | None = None,
        tracestate: str | None = None,
        run_id: str | None = None,
        arrived_at: float | None = None,
    ) -> CallTrace:
        """A call arrived (`arrived_at`: Clock.monotonic, now by default). `tool` None: the catalogue has none."""
        ...

    def reconciliation_started(
        self, tool: TracedTool | None, method: ReconcileMethod, *, original: str | None
    ) -> ReconcileTrace:
        """A reconciliation outside any call: a trace of its own, linked to the `original` call's traceparent."""
        ...

    def breaker_changed(self, scope: str, was: State, now: State) -> None: ...

    def quarantined(self, tool: str, *, held: bool) -> None:
        """A tool is not called from now on, or is called again."""
        ...

    def fenced(self) -> None: ...
    def rows_written(self, kind: RowKind, count: int = 1) -> None: ...
    def rows_failed(self, kind: RowKind, count: int = 1) -> None: ...

    def manifests_loaded(self, tools: Iterable[TracedTool]) -> None:
        """These manifests are in use now, and no others."""
        ...

    def config_reloaded(self, *, accepted: bool) -> None: ...

    def watch_unknown(self, read: Callable[[], Mapping[str, UnknownOperations]]) -> None:
        """Ask `read` (tool name -> its unknown operations) whenever metrics are collected.

        It is called from any thread and must not wait: give it numbers that something else keeps up to date.
        """
        ...

    def render_prometheus(self) -> bytes:
        """The body of `/metrics`, `text/plain; version=0.0.4; charset=utf-8`."""
        ...
