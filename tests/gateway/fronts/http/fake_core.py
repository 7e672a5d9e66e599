"""A core that says what a test tells it to, and remembers what it was asked. The front around it is the real one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.execution import ExecutionRow, RowKind
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

TOKEN = "ogk_test-token"
CALLER = Caller(subject="agent-1", tenant="acme", permissions=frozenset({"refunds:write"}))
OPERATOR_TOKEN = "ogk_operator-token"
OPERATOR = Caller(
    subject="olga",
    tenant="acme",
    permissions=frozenset({"operator:breakers", "operator:breakers:force", "operations:settle"}),
)
REFUND = ToolSummary(
    name="issue_refund",
    version="1.2.0",
    digest="sha256:00",
    title="Issue a refund",
    description="Refund one captured payment.",
    effect="write",
    arguments={"type": "object"},
    verify_with="get_refund_status",
)
ROW = ExecutionRow(row_id="01J", kind=RowKind.CALL, at_wall=1.0, tenant="acme", subject="agent-1", tool="issue_refund")


class Keys:
    """Two callers by their tokens."""

    def authenticate(self, token: str) -> Caller | None:
        return {TOKEN: CALLER, OPERATOR_TOKEN: OPERATOR}.get(token)


@dataclass
class FakeCore:
    """Answers `{"echo": arguments}` unless `on_call` is set; everything asked is in `asked`."""

    on_call: Callable[[ToolCall], Awaitable[Envelope]] | None = None
    readiness: Callable[[], Awaitable[Readiness]] | None = None
    rows: tuple[ExecutionRow, ...] | Envelope = (ROW,)
    signs: dict[str, Any] | Envelope = field(default_factory=lambda: {"tools": []})
    standing: tuple[BreakerView, ...] = (BreakerView(scope="payments", state="closed"),)
    asked: list[Any] = field(default_factory=list)
    refusals: list[tuple[Envelope, Caller]] = field(default_factory=list)
    life: list[str] = field(default_factory=list)
    drained: asyncio.Event = field(default_factory=asyncio.Event)
    on_stop: Callable[[], Awaitable[None]] | None = None

    async def call(self, call: ToolCall, caller: Caller) -> Envelope:
        self.asked.append((call, caller))
        if self.on_call is not None:
            return await self.on_call(call)
        return succeed({"echo": call.arguments}, Meta(request_id=call.request_id, tool=call.tool, operation_id="01JOP"))

    async def prepare(self, call: ToolCall, caller: Caller) -> Envelope:
        self.asked.append(("prepare", call, caller))
        if call.tool == "broken":
            raise RuntimeError("planted")
        return succeed({"operation_key": "k"}, Meta(request_id=call.request_id, tool=call.tool))

    async def refused(self, envelope: Envelope, caller: Caller) -> None:
        self.refusals.append((envelope, caller))

    async def catalogue(self, caller: Caller) -> tuple[ToolSummary, ...]:
        self.asked.append(("catalogue", caller))
        return (REFUND,) if "refunds:write" in caller.permissions else ()

    async def operation(self, operation_id: str, caller: Caller) -> Envelope:
        self.asked.append(("operation", operation_id, caller))
        if operation_id == "broken":
            raise RuntimeError("planted")
        if operation_id != "01JOP":
            return fail(ErrorCode.OPERATION_NOT_FOUND, Meta(request_id=""))
        return succeed({"operation_id": operation_id}, Meta(request_id=""))

    async def operations(self, query: OperationQuery, caller: Caller) -> Envelope:
        self.asked.append((query, caller))
        return succeed({"operations": []}, Meta(request_id="set-by-core"))

    async def reconcile(self, operation_id: str, caller: Caller) -> Envelope:
        self.asked.append(("reconcile", operation_id, caller))
        if operation_id == "broken":
            raise RuntimeError("planted")
        return succeed({"operation_id": operation_id}, Meta(request_id=""))

    async def settle(self, operation_id: str, settlement: SettleRequest, caller: Caller) -> Envelope:
        self.asked.append((operation_id, settlement, caller))
        return succeed({"operation_id": operation_id}, Meta(request_id=""))

    async def approval(self, approval_id: str, caller: Caller) -> Envelope:
        self.asked.append(("approval", approval_id, caller))
        if approval_id == "broken":
            raise RuntimeError("planted")
        if approval_id != "01JAP":
            return fail(ErrorCode.APPROVAL_NOT_FOUND, Meta(request_id=""))
        return succeed({"approval_id": approval_id}, Meta(request_id=""))

    async def approvals(self, query: ApprovalQuery, caller: Caller) -> Envelope:
        self.asked.append((query, caller))
        return succeed({"approvals": []}, Meta(request_id="set-by-core"))

    async def decide(self, approval_id: str, request: DecisionRequest, caller: Caller) -> Envelope:
        self.asked.append((approval_id, request, caller))
        if approval_id == "broken":
            raise RuntimeError("planted")
        return succeed({"approval_id": approval_id}, Meta(request_id=""))

    async def executions(self, query: ExecutionQuery, caller: Caller) -> tuple[ExecutionRow, ...] | Envelope:
        self.asked.append((query, caller))
        return self.rows

    async def signals(self, query: SignalQuery, caller: Caller) -> Envelope:
        self.asked.append((query, caller))
        return succeed(self.signs, Meta(request_id="")) if isinstance(self.signs, dict) else self.signs

    def breakers(self) -> tuple[BreakerView, ...]:
        return self.standing

    async def force_breaker(self, scope: str, request: ForceRequest, caller: Caller) -> Envelope:
        self.asked.append((scope, request, caller))
        if scope == "broken":
            raise RuntimeError("planted")
        if scope == "nobodys":
            return fail(ErrorCode.BREAKER_NOT_FOUND, Meta(request_id=""))
        return succeed({"scope": scope, "state": request.word.value}, Meta(request_id=""))

    async def ready(self) -> Readiness:
        if self.readiness is not None:
            return await self.readiness()
        return Readiness(ready=not self.drained.is_set(), draining=self.drained.is_set())

    def metrics(self) -> bytes:
        return b"oncegate_up 1\n"

    async def start(self) -> None:
        self.life.append("start")

    async def drain(self, grace_s: float) -> None:
        self.life.append(f"drain {grace_s:g}")
        self.drained.set()

    async def stop(self) -> None:
        if self.on_stop is not None:
            await self.on_stop()
        self.life.append("stop")
