"""Faults, injected at the outermost edges of a runner: around its checkpoints and its gateway, and nowhere inside.

Each strikes once in a trial, at the first write that fits. Window A lies before the intent is durable, B between the
intent and the answer, C between the answer and its record. In all three the worker is gone with all it held.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent_client.codec import read_event
from agent_client.events import Acted
from agent_client.journal import Commit, Entry, Log, Task, TaskQuery
from agent_client.ports import Checkpoints, Edges, GatewayUnreachable, ToolGateway
from agent_client.state import ActionStatus
from agent_client.wire import ApprovalView, CallRequest, OperationView
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.requests import ToolSummary

Window = Literal["A", "B", "C"]


class WorkerDied(BaseException):
    """The worker is gone. No `Exception`: nothing that catches faults may outlive it."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The worker dies in a window of a write; another one takes the task up. `tool` None: the first write of any."""

    window: Window
    tool: str | None = None

    def __post_init__(self) -> None:
        if self.window not in ("A", "B", "C"):
            raise ValueError(f"there are the windows A, B and C, and no {self.window!r}")

    def __str__(self) -> str:
        return f"crash {self.window}" + _of(self.tool)


@dataclass(frozen=True, slots=True)
class Timeout:
    """The call is carried out and its answer never comes. `tool` None: the first write; else that tool, also a read."""

    tool: str | None = None

    def __str__(self) -> str:
        return "timeout" + _of(self.tool)


@dataclass(frozen=True, slots=True)
class DuplicateDelivery:
    """Two workers are given the task at once."""

    def __str__(self) -> str:
        return "duplicate delivery"


Fault = Crash | Timeout | DuplicateDelivery


@dataclass(slots=True)
class Trap:
    """One fault, armed for one trial.

    Attributes:
        sprung: it has struck.
        abroad: requests that outlived their worker; they arrive, as packets do.
    """

    fault: Fault | None
    sprung: bool = False
    abroad: list["asyncio.Future[Envelope]"] = field(default_factory=list)
    intended: set[str] = field(default_factory=set)

    def around(self, edges: Edges) -> Edges:
        """The same edges, with the trap in them."""
        return Edges(
            gateway=TrappedGateway(inner=edges.gateway, trap=self),
            model=edges.model,
            checkpoints=TrappedCheckpoints(inner=edges.checkpoints, trap=self),
        )

    def before_commit(self, commit: Commit) -> None:
        """Window A: about to save the intent, and dead."""
        if self._intents(commit) and isinstance(self.fault, Crash) and self.fault.window == "A" and not self.sprung:
            self.sprung = True
            raise WorkerDied("before the intent was durable")

    def after_commit(self, commit: Commit) -> None:
        """From here on the write may be sent."""
        self.intended.update(self._intents(commit))

    def fits(self, request: CallRequest) -> bool:
        """The fault strikes at this call."""
        if self.sprung or not isinstance(self.fault, Crash | Timeout):
            return False
        if request.expect is None:
            return isinstance(self.fault, Timeout) and self.fault.tool == request.tool
        return request.expect.operation_key in self.intended

    def _intents(self, commit: Commit) -> Sequence[str]:
        """Operation keys of the fitting writes whose intent is in the commit. A proposal to an approver is none."""
        tool = getattr(self.fault, "tool", None)
        events = (read_event(entry.body) for entry in commit.entries if entry.kind == "acted")
        actions = (event.action for event in events if isinstance(event, Acted))
        return [a.key for a in actions if a.status is ActionStatus.INTENDED and tool in (None, a.kind)]


@dataclass(slots=True)
class TrappedGateway:
    """A gateway whose answers, or whose caller, may be lost."""

    inner: ToolGateway
    trap: Trap

    async def catalogue(self) -> tuple[ToolSummary, ...]:
        return await self.inner.catalogue()

    async def prepare(self, request: CallRequest) -> Envelope:
        return await self.inner.prepare(request)

    async def call(self, request: CallRequest) -> Envelope:
        trap = self.trap
        if not trap.fits(request):
            return await self.inner.call(request)
        if isinstance(trap.fault, Crash) and trap.fault.window == "B":
            trap.sprung = True
            trap.abroad.append(asyncio.ensure_future(self.inner.call(request)))
            raise WorkerDied("with the call under way")
        envelope = await self.inner.call(request)
        if _waits_for_a_person(envelope):
            return envelope
        trap.sprung = True
        if isinstance(trap.fault, Crash):
            raise WorkerDied("with the answer in hand")
        raise GatewayUnreachable("the answer did not come in time", never_sent=False)

    async def operation(self, *, operation_id: str | None = None, key: str | None = None) -> OperationView | None:
        return await self.inner.operation(operation_id=operation_id, key=key)

    async def reconcile(self, operation_id: str) -> Envelope:
        return await self.inner.reconcile(operation_id)

    async def approval(self, approval_id: str) -> ApprovalView | None:
        return await self.inner.approval(approval_id)


@dataclass(slots=True)
class TrappedCheckpoints:
    """Checkpoints whose writer may die."""

    inner: Checkpoints
    trap: Trap

    async def create(self, task_id: str, first: Commit) -> Log:
        return await self.inner.create(task_id, first)

    async def load(self, task_id: str, *, version: int | None = None) -> Log | None:
        return await self.inner.load(task_id, version=version)

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        self.trap.before_commit(commit)
        position = await self.inner.append(task_id, after=after, commit=commit)
        self.trap.after_commit(commit)
        return position

    async def events(self, task_id: str, *, after: int = 0) -> tuple[Entry, ...]:
        return await self.inner.events(task_id, after=after)

    async def tasks(self, query: TaskQuery) -> tuple[Task, ...]:
        return await self.inner.tasks(query)

    async def prune(self, task_id: str, *, below: int | None = None) -> int:
        return await self.inner.prune(task_id, below=below)


def _waits_for_a_person(envelope: Envelope) -> bool:
    return envelope.error is not None and envelope.error.code is ErrorCode.APPROVAL_REQUIRED


def _of(tool: str | None) -> str:
    return "" if tool is None else f" of {tool}"
