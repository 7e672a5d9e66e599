"""Everything that can happen to a task. The log of a task is a list of these, and its state is their fold.

An event says what happened, with all that the next state needs: folding asks nobody for time, chance or a file.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from agent_client.limits import Limits
from agent_client.state import Action, Approval, Evidence, Observation, PlannedCall, ToolRecord, Value
from agent_client.status import Reason


class Admitted(Value):
    """The task exists from here on."""

    kind: Literal["admitted"] = "admitted"
    task_id: str
    task_type: str
    trace_id: str
    goal: str
    limits: Limits
    at_wall: float


class Entered(Value):
    """A worker has taken the task. Whoever had it before can write no more."""

    kind: Literal["entered"] = "entered"
    at_wall: float


class StepBegan(Value):
    """A step is spent, before the model is asked."""

    kind: Literal["step_began"] = "step_began"
    step: int


class InferenceFailed(Value):
    """One inference brought no reply. It costs time and tokens, and no step."""

    kind: Literal["inference_failed"] = "inference_failed"
    attempt: int
    message: str
    input_tokens: int
    output_tokens: int
    seconds: float
    retried: bool


class Decided(Value):
    """The model replied. `raw` is its provider's answer, `prompt_hash` the fingerprint of what it was shown."""

    kind: Literal["decided"] = "decided"
    step: int
    text: str
    calls: tuple[PlannedCall, ...]
    raw: Any
    prompt_hash: str
    input_tokens: int
    output_tokens: int
    seconds: float


class Planned(Value):
    """The fixed sequence calls a tool; no model was asked."""

    kind: Literal["planned"] = "planned"
    call: PlannedCall


class Noted(Value):
    """Something the model will be told. It answers its call, if it names one: that call is off the plan."""

    kind: Literal["noted"] = "noted"
    observation: Observation


class Acted(Value):
    """An action is saved as proposed or intended, before anything of it is sent. Replaces one of the same call."""

    kind: Literal["acted"] = "acted"
    action: Action


class Resent(Value):
    """The action is about to be sent once more."""

    kind: Literal["resent"] = "resent"
    call_id: str


class Unproved(Value):
    """A send ended without proof; it is recorded, and the action stays open."""

    kind: Literal["unproved"] = "unproved"
    record: ToolRecord


class Observed(Value):
    """A call was answered. For an action: it is executed, or (outcome `error`) proved not to be and gone."""

    kind: Literal["observed"] = "observed"
    record: ToolRecord
    observation: Observation
    evidence: Evidence | None = None
    seconds: float = 0.0


class Attempted(Value):
    """One attempt of a read, and another is made: it failed, or `wait` found nothing new. Recorded, not told."""

    kind: Literal["attempted"] = "attempted"
    record: ToolRecord
    seconds: float = 0.0


class Verified(Value):
    """A read by an identifier of its result has found the executed action."""

    kind: Literal["verified"] = "verified"
    call_id: str


class Flagged(Value):
    """Nobody can say whether the action was done; a person must look."""

    kind: Literal["flagged"] = "flagged"
    call_id: str


class Suspended(Value):
    """The task waits for a person's decision."""

    kind: Literal["suspended"] = "suspended"
    approval: Approval
    detail: str
    at_wall: float


class Woken(Value):
    """The wait for a decision is over. `granted`: the action may run; else the approval must be asked for again."""

    kind: Literal["woken"] = "woken"
    call_id: str
    granted: bool
    at_wall: float


class SequenceBegan(Value):
    """The fixed sequence after an approved action starts."""

    kind: Literal["sequence_began"] = "sequence_began"
    approved: str


class SequenceEnded(Value):
    """It has nothing more to call."""

    kind: Literal["sequence_ended"] = "sequence_ended"


class Polled(Value):
    """`wait` has let time pass before a re-read."""

    kind: Literal["polled"] = "polled"
    polls: int


class Watched(Value):
    """A step is over, and what it did in fingerprints: (action, observation) pairs, and all that counts as progress.

    Attributes:
        counted: False for a step of nothing but `finish` or `wait`, which have bounds of their own.
        empty: the reply held neither words nor calls.
    """

    kind: Literal["watched"] = "watched"
    pairs: tuple[str, ...]
    state: str
    counted: bool = True
    empty: bool = False


class Corrected(Value):
    """The model is told once that it goes round in circles."""

    kind: Literal["corrected"] = "corrected"
    flag: str
    observation: Observation


class Finished(Value):
    """The task is over."""

    kind: Literal["finished"] = "finished"
    reason: Reason
    detail: str
    answer: str | None = None


class Marked(Value):
    """The end of every commit. A checkpoint raises the version; a note does not."""

    kind: Literal["marked"] = "marked"
    checkpoint: bool
    at_wall: float
    active_s: float


Event = Annotated[
    Admitted
    | Entered
    | StepBegan
    | InferenceFailed
    | Decided
    | Planned
    | Noted
    | Acted
    | Resent
    | Unproved
    | Observed
    | Attempted
    | Verified
    | Flagged
    | Suspended
    | Woken
    | SequenceBegan
    | SequenceEnded
    | Polled
    | Watched
    | Corrected
    | Finished
    | Marked,
    Field(discriminator="kind"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads an event from its JSON."""
