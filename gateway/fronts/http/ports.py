"""The doors through which the HTTP front reaches the rest of the gateway."""

from collections.abc import Awaitable
from typing import Protocol

from gateway.contract.call import Caller, ToolCall, Unproved
from gateway.contract.envelope import Envelope
from gateway.contract.execution import ExecutionRow
from gateway.contract.requests import (
    ApprovalQuery,
    BreakerView,
    DecisionRequest,
    ExecutionQuery,
    ForceRequest,
    OperationQuery,
    Readiness,
    SettleRequest,
    SignalQuery,
    ToolSummary,
)
from gateway.stages.monitor.ports import RequestTrace


class Core(Protocol):
    """The seven stages and what is kept of them.

    No method raises for anything that a caller did; an Envelope says it. Methods for reading return an Envelope in
    place of their data when the store is away. The front fills in `meta.request_id` where it is empty.
    """

    async def call(self, call: ToolCall, caller: Caller) -> Envelope:
        """Carry one call through the stages.

        Cancelling it says that the caller is gone: a read is given up; a write goes on, is recorded, and is waited
        for by `stop`.
        """
        ...

    async def prepare(self, call: ToolCall, caller: Caller) -> Envelope:
        """Validate and authorise, execute nothing. `data` is `{operation_key, action_hash, effect, store_epoch,
        approval: {required, reason, approvers, expires_after}, verify_with}`.
        """
        ...

    async def refused(self, envelope: Envelope, caller: Caller) -> None:
        """Leave an execution row for an envelope that the front wrote itself: the request was not even a call."""
        ...

    async def catalogue(self, caller: Caller) -> tuple[ToolSummary, ...]:
        """The tools the caller may use, in a stable order."""
        ...

    async def operation(self, operation_id: str, caller: Caller) -> Envelope:
        """One operation of the caller's own, or with `operations:read` of the tenant; else `operation_not_found`."""
        ...

    async def operations(self, query: OperationQuery, caller: Caller) -> Envelope:
        """The same for many: `data` is `{"operations": […]}`."""
        ...

    async def reconcile(self, operation_id: str, caller: Caller) -> Envelope:
        """Look now, by the means the manifest declares. `data` is the operation as it stands afterwards."""
        ...

    async def settle(self, operation_id: str, settlement: SettleRequest, caller: Caller) -> Envelope:
        """Take an operator's word (`operations:settle`). `data` is the operation as it stands afterwards."""
        ...

    async def approval(self, approval_id: str, caller: Caller) -> Envelope:
        """One approval that the caller asked for or may decide; else `approval_not_found`."""
        ...

    async def approvals(self, query: ApprovalQuery, caller: Caller) -> Envelope:
        """The same for many: `data` is `{"approvals": […]}`."""
        ...

    async def decide(self, approval_id: str, request: DecisionRequest, caller: Caller) -> Envelope:
        """Take a person's word, once. `data` is the approval as it stands afterwards."""
        ...

    async def executions(self, query: ExecutionQuery, caller: Caller) -> tuple[ExecutionRow, ...] | Envelope:
        """Rows of the caller's own, or with `executions:read` of the tenant."""
        ...

    async def signals(self, query: SignalQuery, caller: Caller) -> Envelope:
        """The four signals per tool, from the same rows as `executions`: `{"tools": […], "rows": …}`."""
        ...

    def breakers(self) -> tuple[BreakerView, ...]:
        """Every circuit breaker of this process. The front has checked `operator:breakers`."""
        ...

    async def force_breaker(self, scope: str, request: ForceRequest, caller: Caller) -> Envelope:
        """Take an operator's word; the front has checked `operator:breakers:force`. `data` is the breaker afterwards."""
        ...

    async def ready(self) -> Readiness:
        """Whether the store takes writes, and nothing drains. It asks the store; the front bounds the wait."""
        ...

    def metrics(self) -> bytes:
        """Prometheus text format, version 0.0.4."""
        ...

    async def start(self) -> None:
        """Begin what runs beside calls: heartbeats, sweeper, approvals, retention. A store that does not answer is
        waited for beside them; reads are served meanwhile, and writes refused.

        Raises:
            StartRefusedError: the gateway must not start.
        """
        ...

    async def drain(self, grace_s: float) -> None:
        """From the first moment on refuse new writes with `draining` and say so in `ready`; return when no call runs
        any more, or after `grace_s`.
        """
        ...

    async def stop(self) -> None:
        """Wait for writes that still listen, each up to its own remaining timeout; make rows durable; let go."""
        ...


class Requests(Protocol):
    """Telemetry's view of HTTP itself."""

    def request_started(
        self, method: str, route: str | None, *, traceparent: str | None = None, tracestate: str | None = None
    ) -> RequestTrace:
        """A request was routed; `route` is the template that matched, None for none."""
        ...


class Authenticator(Protocol):
    """Turns a credential into who is asking."""

    def authenticate(self, token: str) -> "Caller | Unproved | Awaitable[Caller | Unproved] | None":
        """The caller a bearer token stands for; None for any other token. In memory, and never raises.

        An awaitable where somebody has to be asked first; it is bounded in time.
        """
        ...
