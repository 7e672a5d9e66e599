"""The doors through which the loop reaches a model, a gateway, a checkpoint store, time and chance.

Each is small enough to be written by hand. `agent_client.models`, `agent_client.gateway_client` and
`agent_client.checkpoints` are the ones that come with the package.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from agent_client.inference import ModelReply, ModelRequest
from agent_client.journal import Commit, Entry, Log, Task, TaskQuery
from agent_client.wire import ApprovalView, CallRequest, OperationView
from gateway.contract.envelope import Envelope
from gateway.contract.requests import ToolSummary

Model = Callable[[ModelRequest], Awaitable[ModelReply]]
"""One inference. Raises `ModelTrouble`; anything else it raises is a fault of the adapter and ends the run."""


class GatewayUnreachable(Exception):  # noqa: N818 - where it stands, not what failed
    """No envelope came: nobody listened, the connection ended, or what came was not ours.

    Attributes:
        never_sent: no byte of the request can have reached a gateway.
    """

    def __init__(self, message: str, *, never_sent: bool) -> None:
        super().__init__(message)
        self.never_sent = never_sent


class ToolGateway(Protocol):
    """OnceGate as the loop sees it. Every method raises `GatewayUnreachable` when no envelope came.

    Nothing here retries: the loop counts attempts, and only it knows which may be repeated.
    """

    async def catalogue(self) -> tuple[ToolSummary, ...]:
        """The tools this caller may use. Raises `GatewayRefused` when the gateway refuses to say."""
        ...

    async def prepare(self, request: CallRequest) -> Envelope:
        """Validate, authorise, derive key and action hash; `read_prepared(envelope.data)`. Executes nothing."""
        ...

    async def call(self, request: CallRequest) -> Envelope:
        """Execute, at most once for the operation."""
        ...

    async def operation(self, *, operation_id: str | None = None, key: str | None = None) -> OperationView | None:
        """One operation by its id or its key (exactly one is given); None: there is none this caller may see.

        Raises `GatewayRefused` for any other refusal: "I cannot say" is never "there is none".
        """
        ...

    async def reconcile(self, operation_id: str) -> Envelope:
        """Have the gateway look now; `read_operation(envelope.data)` when ok."""
        ...

    async def approval(self, approval_id: str) -> ApprovalView | None:
        """One approval; None: there is none this caller may see. Raises `GatewayRefused` for any other refusal."""
        ...


class GatewayRefused(Exception):  # noqa: N818 - as above
    """A question was refused with an envelope; `envelope.error` says why."""

    def __init__(self, envelope: Envelope) -> None:
        super().__init__(envelope.error.message if envelope.error else "refused")
        self.envelope = envelope


class Checkpoints(Protocol):
    """An append-only log for each task, with snapshots. `agent_client.testing.checkpoint_conformance` proves one.

    All methods raise `CheckpointsUnavailable`; those that read raise `CorruptLog`.
    """

    async def create(self, task_id: str, first: Commit) -> Log:
        """Admit a task: durable when it returns. If the id exists, nothing is written and its log is returned.

        `first` has version 0 and a snapshot or entries enough to build the state.
        """
        ...

    async def load(self, task_id: str, *, version: int | None = None) -> Log | None:
        """The latest snapshot and the entries after it; None: no such task.

        With `version`: as the task stood when that version was the latest, its notes included (entries whose
        version is higher are left out, and so is a snapshot of a higher one). None when that was pruned.
        """
        ...

    async def append(self, task_id: str, *, after: int, commit: Commit) -> int:
        """Add all of a commit, or nothing, if the log still ends at position `after`; the new last position.

        Raises:
            StaleVersion: it does not. The caller must stop.
        """
        ...

    async def events(self, task_id: str, *, after: int = 0) -> tuple[Entry, ...]:
        """Entries that are still kept and stand after this position, oldest first."""
        ...

    async def tasks(self, query: TaskQuery) -> tuple[Task, ...]:
        """Tasks that fit the query."""
        ...

    async def prune(self, task_id: str, *, below: int | None = None) -> int:
        """Forget entries and snapshots that no version from `below` on needs; how many rows were removed.

        Never above the headline's `pinned_version`, and never what loading the latest state needs. `below` None:
        forget the whole task, which only a finished one allows (else ValueError).
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """What a runner reaches the world by. A test, or an evaluation, puts its own around them."""

    gateway: ToolGateway
    model: Model
    checkpoints: Checkpoints


class Clock(Protocol):
    """Time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never steps back."""
        ...

    def wall(self) -> float:
        """Seconds since 1970 UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...


class Chance(Protocol):
    """Randomness: spread and names, never identity."""

    def draw(self) -> float:
        """A number in [0, 1)."""
        ...

    def hex(self, digits: int) -> str:
        """A fresh random identifier of so many hexadecimal digits."""
        ...


class Sealer(Protocol):
    """Authenticated encryption of what a pending action must keep and history must not show."""

    def seal(self, text: str, context: str) -> str:
        """The sealed form; it opens only with the same `context`."""
        ...

    def open(self, sealed: str, context: str) -> str:
        """The text again. Raises ValueError when it was changed, moved or sealed with a key that is gone."""
        ...
