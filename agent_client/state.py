"""The state of a task: everything the loop knows, and all that a resumed worker needs.

Frozen values only. `fold.py` makes the next state from an event; nothing else does. The prompt is a rendering of
this, never the other way round.
"""

from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from agent_client.limits import Limits
from agent_client.status import TERMINAL, Reason, Status

SCHEMA_VERSION: Final = 1


class Value(BaseModel):
    """A frozen part of the state."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(Value):
    """What a system answered, with where it comes from.

    Attributes:
        id: `ev-1`, counted within the task.
        arguments: of the call, sensitive values replaced.
        request_id: the gateway's, of the answer that brought the payload.
        fetched_at: RFC 3339 UTC, when the system answered.
        source: the system.
        payload: its answer, as data; private members replaced.
        payload_hash: content address: the same answer read twice is the same evidence to the progress monitor.
        ref: a name a person can look it up by, such as `POL-REF-004 v4 §3.2`.
        truncated: what was cut, in the gateway's words.
    """

    id: str
    step: int
    call_id: str
    tool: str
    arguments: dict[str, Any]
    request_id: str
    operation_id: str | None = None
    fetched_at: str | None = None
    source: str | None = None
    payload: Any
    payload_hash: str
    ref: str | None = None
    truncated: str | None = None
    replayed: bool = False


class Outcome(StrEnum):
    """How one attempt ended, as far as the loop can say."""

    OK = "ok"
    ERROR = "error"
    UNKNOWN = "unknown"


class ToolRecord(Value):
    """One attempt of one call; every read attempt and every send of a write has its own.

    Attributes:
        args_hash: of the canonical arguments.
        idempotency_key: the operation key; None for a read.
        code: the envelope's error code, None when ok.
        summary: one line for a person.
    """

    step_id: int
    call_id: str
    tool: str
    args_hash: str
    outcome: Outcome
    request_id: str
    idempotency_key: str | None = None
    code: str | None = None
    evidence_id: str | None = None
    latency_ms: int = 0
    summary: str = ""


class ActionStatus(StrEnum):
    """The life of an action that changes the world."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    INTENDED = "intended"
    EXECUTED = "executed"
    VERIFIED = "verified"


class Action(Value):
    """An action that is to change the world, is being tried, or has been done.

    Attributes:
        arguments: sensitive values replaced.
        sealed: the real arguments, sealed, while they may still be needed and differ from `arguments`.
        key, action_hash, store_epoch, verify_with: what `prepare` answered; the last is the read that tells what became of it.
        sends: how many sends of it have not been proved to have had no effect.
        stale: how often the gateway found that it is no longer what was prepared.
        needs_approval: a rule of the gateway asks for a person's word.
        since_version: the version of the state it appeared in; history from there on is not pruned while it is open.
        evidence_id: its result.
        flagged: a person must look: nobody can say whether it was done.
    """

    call_id: str
    step: int
    kind: str
    arguments: dict[str, Any]
    args_hash: str
    sealed: str | None = None
    key: str
    action_hash: str
    store_epoch: str
    status: ActionStatus
    sends: int = 0
    stale: int = 0
    needs_approval: bool = False
    since_version: int = 0
    verify_with: str | None = None
    evidence_id: str | None = None
    flagged: bool = False

    @property
    def open(self) -> bool:
        """It was or may have been sent, and no answer is recorded: to be reconciled before anything else."""
        return self.sends > 0 and self.status in (ActionStatus.PROPOSED, ActionStatus.APPROVED, ActionStatus.INTENDED)


class PlannedCall(Value):
    """A call the model proposed and nothing has answered yet.

    Attributes:
        call_id: ours; a model's ids may repeat.
        arguments: the raw string, or its redacted form when `sealed` holds the real one.
        cut: the reply ended with it at the limit of its length: the arguments may not be whole.
    """

    call_id: str
    name: str
    arguments: str
    sealed: str | None = None
    cut: bool = False


class Turn(Value):
    """One decision as it was made. `raw` is the provider's answer, sensitive values replaced."""

    step: int
    text: str
    calls: tuple[PlannedCall, ...]
    raw: Any = None
    input_tokens: int = 0
    output_tokens: int = 0


class Observation(Value):
    """What the model is told of something that happened.

    Attributes:
        call_id: the call it answers; None: the runtime's own word.
        code: an error code, a flag, or `ok`.
        text: gateway-owned or runtime-owned words. Data of tools is in the evidence, never here.
    """

    step: int
    call_id: str | None
    code: str
    text: str
    evidence_id: str | None = None


class Approval(Value):
    """The approval a task waits for. What it is bound to is the full action hash.

    Attributes:
        expires_wall: seconds since 1970 UTC.
        requests: how often it was asked for; an expired one is asked for once more.
    """

    id: str
    call_id: str
    action_hash: str
    reason: str
    expires_wall: float | None = None
    requests: int = 1


class Monitor(Value):
    """What the progress monitor remembers. Part of the state, so that a crash does not make it forget.

    Attributes:
        seen: how often each (action, observation) occurred.
        recent: what each of the last steps did, newest last.
        last_state: fingerprint of all that counts as progress.
        stalled: steps in a row that left it as it was.
        corrected: flags the model was told of once.
        empty: replies in a row that held neither words nor calls.
    """

    seen: dict[str, int] = {}
    recent: tuple[str, ...] = ()
    last_state: str | None = None
    stalled: int = 0
    corrected: tuple[str, ...] = ()
    empty: int = 0


class Spent(Value):
    """What the task has used. Seconds of suspension are counted apart, and limit nothing."""

    tokens_used: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    active_s: float = 0.0
    model_s: float = 0.0
    tool_s: float = 0.0
    suspended_s: float = 0.0
    polls: int = 0
    inference_retries: int = 0


class FixedSequence(Value):
    """The part after an approval that runs without a model.

    Attributes:
        approved: the call that was approved.
        calls: those made since, in order.
    """

    approved: str
    calls: tuple[str, ...] = ()


class LoopState(Value):
    """One task.

    Attributes:
        version: rises by one with every checkpoint.
        trace_id: 32 hexadecimal digits; every call to the gateway continues this trace.
        reason: why it stands at `status`; `detail` says it in words.
        answer: the model's closing words, kept apart from evidence and only once the task is verified.
        plan: calls of the last decision that nothing has answered yet, the stored proposal among them.
        step_open: the last step was decided and is not over.
        entered: a worker took the task and has neither suspended nor ended it.
        resumes: how often it was taken up after being dropped, since this version was made.
        marked_wall: when this version was made, by the worker's clock.
    """

    schema_version: int = SCHEMA_VERSION
    version: int = 0
    task_id: str
    task_type: str
    trace_id: str
    goal: str
    status: Status = Status.RUNNING
    reason: Reason = Reason.ADMITTED
    detail: str = ""
    answer: str | None = None
    step_count: int = 0
    limits: Limits
    usage: Spent = Spent()
    evidence: tuple[Evidence, ...] = ()
    tool_history: tuple[ToolRecord, ...] = ()
    outstanding: tuple[Action, ...] = ()
    turns: tuple[Turn, ...] = ()
    observations: tuple[Observation, ...] = ()
    plan: tuple[PlannedCall, ...] = ()
    step_open: bool = False
    approval: Approval | None = None
    sequence: FixedSequence | None = None
    monitor: Monitor = Monitor()
    entered: bool = False
    resumes: int = 0
    created_wall: float = 0.0
    marked_wall: float = 0.0

    @property
    def finished(self) -> bool:
        """Nothing will happen any more."""
        return self.status in TERMINAL

    @property
    def running(self) -> bool:
        """Neither suspended nor finished."""
        return self.status is Status.RUNNING

    def action(self, call_id: str) -> Action | None:
        """The action of this call."""
        return next((a for a in self.outstanding if a.call_id == call_id), None)

    @property
    def open_actions(self) -> tuple[Action, ...]:
        """Those that were or may have been sent and have no recorded answer."""
        return tuple(a for a in self.outstanding if a.open)
