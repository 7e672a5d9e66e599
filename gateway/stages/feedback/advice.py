"""What to do next, where the tool decides it and not the code alone.

The table of codes advises for a write that has a look-up. A write without one, a read, and a write whose key the
gateway may use again each need another next step; this is where they get it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from gateway.contract.codes import FACTS, CallOutcome, ErrorCode, NextAction
from gateway.manifest.policies import Effect
from gateway.stages.execute.operation.record import State
from gateway.stages.feedback.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The `next_action` and `retryable` of an error."""

    next_action: NextAction
    retryable: bool


class Means(Enum):
    """How the caller of this tool can learn what became of an action."""

    READ = auto()
    """It changed nothing: asking again is free."""
    LOOKUP = auto()
    """A declared read tells."""
    SAME_KEY = auto()
    """No look-up, but the service stores answers by key: the same call again asks under the same key."""
    PERSON = auto()
    """Only somebody who looks can tell."""


def means(context: Context) -> Means:
    """Which of the four this tool has. A tool about which nothing is known has only people."""
    if context.effect is Effect.READ:
        return Means.READ
    if context.verify is not None:
        return Means.LOOKUP
    return Means.SAME_KEY if context.keyed else Means.PERSON


class Standing(Enum):
    """How an operation stands, as far as another call is concerned."""

    SETTLED_DONE = auto()
    SETTLED_REFUSED = auto()
    OWNED = auto()
    """Somebody is carrying it out."""
    DOUBTFUL = auto()
    """It may have been carried out, and nobody listens for the answer to this call."""


_STANDINGS: Final[Mapping[str, Standing]] = {
    State.DONE: Standing.SETTLED_DONE,
    State.REFUSED: Standing.SETTLED_REFUSED,
    State.CLAIMED: Standing.OWNED,
    State.SENT: Standing.OWNED,
}


def standing(state: str | None) -> Standing:
    """Which of the four a record's state is. Without one, what the code itself says: done."""
    return Standing.SETTLED_DONE if state is None else _STANDINGS.get(state, Standing.DOUBTFUL)


_STAND: Final = None
"""The table's own advice stands."""

_UNKNOWN: Final[Mapping[Means, Advice | None]] = {
    Means.READ: Advice(next_action=NextAction.RETRY, retryable=True),
    Means.LOOKUP: _STAND,
    Means.SAME_KEY: Advice(next_action=NextAction.WAIT, retryable=False),
    Means.PERSON: Advice(next_action=NextAction.ESCALATE, retryable=False),
}
_RESULT_MISSING: Final[Mapping[Means, Advice | None]] = {
    Means.READ: Advice(next_action=NextAction.RETRY, retryable=True),
    Means.LOOKUP: _STAND,
    Means.SAME_KEY: Advice(next_action=NextAction.STOP, retryable=False),
    Means.PERSON: Advice(next_action=NextAction.STOP, retryable=False),
}
_UNUSABLE: Final[Mapping[Means, Advice | None]] = {
    **_RESULT_MISSING,
    # The same question would get the same answer.
    Means.READ: Advice(next_action=NextAction.ESCALATE, retryable=False),
}
_TOO_LARGE: Final[Mapping[Means, Advice | None]] = {
    **_RESULT_MISSING,
    Means.READ: Advice(next_action=NextAction.FIX_ARGUMENTS, retryable=False),
}
_PARTLY: Final[Mapping[Means, Advice | None]] = {
    Means.READ: Advice(next_action=NextAction.RETRY, retryable=True),
    Means.LOOKUP: _STAND,
    Means.SAME_KEY: Advice(next_action=NextAction.ESCALATE, retryable=False),
    Means.PERSON: Advice(next_action=NextAction.ESCALATE, retryable=False),
}
_IN_ANOTHER_STATE: Final[Mapping[Means, Advice | None]] = {
    Means.READ: Advice(next_action=NextAction.ESCALATE, retryable=False),
    Means.LOOKUP: _STAND,
    Means.SAME_KEY: Advice(next_action=NextAction.ESCALATE, retryable=False),
    Means.PERSON: Advice(next_action=NextAction.ESCALATE, retryable=False),
}

_BY_MEANS: Final[Mapping[ErrorCode, Mapping[Means, Advice | None]]] = {
    **{
        code: _UNKNOWN
        for code, row in FACTS.items()
        if row.outcome is CallOutcome.UNKNOWN and row.next_action is NextAction.VERIFY
    },
    ErrorCode.IN_FLIGHT_DOWNSTREAM: {**_UNKNOWN, Means.SAME_KEY: _STAND},
    ErrorCode.DONE_RESULT_LOST: _RESULT_MISSING,
    ErrorCode.DONE_RESULT_ELSEWHERE: _UNUSABLE,
    ErrorCode.RESULT_UNREADABLE: _UNUSABLE,
    ErrorCode.RESULT_TOO_LARGE: _TOO_LARGE,
    ErrorCode.PARTIAL: _PARTLY,
    ErrorCode.CONFLICT: _IN_ANOTHER_STATE,
    ErrorCode.PRECONDITION_FAILED: _IN_ANOTHER_STATE,
}


_CONFLICT: Final[Mapping[Standing, Advice | None]] = {
    Standing.SETTLED_DONE: _STAND,
    Standing.SETTLED_REFUSED: Advice(next_action=NextAction.ESCALATE, retryable=False),
    Standing.OWNED: Advice(next_action=NextAction.WAIT, retryable=False),
    Standing.DOUBTFUL: Advice(next_action=NextAction.ESCALATE, retryable=False),
}


_STOP: Final = Advice(next_action=NextAction.STOP, retryable=False)
_WAIT: Final = Advice(next_action=NextAction.WAIT, retryable=False)
# No correction of the word changes these; elsewhere the word itself is wrong.
_UNSETTLED: Final[Mapping[str, Advice]] = {
    State.DONE: _STOP,
    State.REFUSED: _STOP,
    State.FREE: _STOP,
    State.CLAIMED: _WAIT,
    State.SENT: _WAIT,
    State.LISTENING: _WAIT,
}

_AGAIN: Final = frozenset({NextAction.RETRY, NextAction.WAIT})


def advise(code: ErrorCode, context: Context) -> Advice | None:
    """The advice that this tool needs in place of the table's; None when the table's stands."""
    if context.next_action is not None:
        return Advice(next_action=context.next_action, retryable=context.next_action in _AGAIN)
    if code is ErrorCode.BLOCKED_BY_UNKNOWN:
        can_verify = context.blocker is not None and context.blocker.verify is not None
        return _STAND if can_verify else Advice(next_action=NextAction.ESCALATE, retryable=False)
    if code is ErrorCode.IDEMPOTENCY_CONFLICT:
        stands = standing(context.state)
        if stands is Standing.DOUBTFUL and context.verify is not None:
            return Advice(next_action=NextAction.VERIFY, retryable=False)
        return _CONFLICT[stands]
    if code is ErrorCode.INVALID_SETTLEMENT:
        return _UNSETTLED.get(context.state or "")
    row = _BY_MEANS.get(code)
    return _STAND if row is None else row[means(context)]


def next_action(code: ErrorCode, context: Context) -> NextAction:
    """What the caller should do now, the tool considered."""
    advice = advise(code, context)
    return FACTS[code].next_action if advice is None else advice.next_action
