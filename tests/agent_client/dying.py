"""A worker that dies at a chosen moment: everything it holds is gone, what was durable or sent is not."""

from dataclasses import dataclass, field
from typing import Any

from agent_client.inference import ModelReply, ModelRequest
from agent_client.journal import Commit, Entry, Log, Task, TaskQuery
from agent_client.ports import Checkpoints, Model, ToolGateway
from agent_client.wire import ApprovalView, CallRequest, OperationView
from gateway.contract.envelope import Envelope
from gateway.contract.requests import ToolSummary


class Killed(BaseException):
    """The process is gone. Nothing in the product may catch it."""


@dataclass(slots=True)
class Reaper:
    """Kills at the n-th moment, counted from 1; 0 kills nobody. A moment is before or after one outside effect."""

    at: int = 0
    moments: list[str] = field(default_factory=list)

    def pass_by(self, moment: str) -> None:
        """Die here, if it is time."""
        self.moments.append(moment)
        if len(self.moments) == self.at:
            raise Killed(moment)


@dataclass(slots=True)
class MortalCheckpoints:
    """Real checkpoints; the worker may die just before or just after a commit."""

    inner: Checkpoints
    reaper: Reaper

    async def create(self, task_id: str, first: Commit) -> Log:
        return await self.inner.create(task_id, first)

    async def load(self, task_id: str, *, version: int | None = None) -> Log | None:
        return await self.inner.load(task_id, version=version)

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        kinds = ",".join(entry.kind for entry in commit.entries)
        self.reaper.pass_by(f"before {kinds}")
        position = await self.inner.append(task_id, after=after, commit=commit)
        self.reaper.pass_by(f"after {kinds}")
        return position

    async def events(self, task_id: str, *, after: int = 0) -> tuple[Entry, ...]:
        return await self.inner.events(task_id, after=after)

    async def tasks(self, query: TaskQuery) -> tuple[Task, ...]:
        return await self.inner.tasks(query)

    async def prune(self, task_id: str, *, below: int | None = None) -> int:
        return await self.inner.prune(task_id, below=below)


@dataclass(slots=True)
class MortalGateway:
    """A real client; the worker may die just before a request leaves or just after its answer came."""

    inner: ToolGateway
    reaper: Reaper
    calls: list[CallRequest] = field(default_factory=list)

    async def catalogue(self) -> tuple[ToolSummary, ...]:
        return await self.inner.catalogue()

    async def prepare(self, request: CallRequest) -> Envelope:
        return await self._around(f"prepare {request.tool}", self.inner.prepare(request))

    async def call(self, request: CallRequest) -> Envelope:
        self.calls.append(request)
        return await self._around(f"call {request.tool}", self.inner.call(request))

    async def operation(self, *, operation_id: str | None = None, key: str | None = None) -> OperationView | None:
        return await self.inner.operation(operation_id=operation_id, key=key)

    async def reconcile(self, operation_id: str) -> Envelope:
        return await self.inner.reconcile(operation_id)

    async def approval(self, approval_id: str) -> ApprovalView | None:
        return await self.inner.approval(approval_id)

    async def _around(self, what: str, work: Any) -> Envelope:
        try:
            self.reaper.pass_by(f"before {what}")
        except Killed:
            work.close()
            raise
        envelope: Envelope = await work
        self.reaper.pass_by(f"after {what}")
        return envelope


@dataclass(slots=True)
class MortalModel:
    """A model; the worker may die just before it is asked or just after it replied."""

    inner: Model
    reaper: Reaper

    async def __call__(self, request: ModelRequest) -> ModelReply:
        self.reaper.pass_by("before the model")
        reply = await self.inner(request)
        self.reaper.pass_by("after the model")
        return reply
