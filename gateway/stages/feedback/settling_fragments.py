"""The pieces of sentences about an operator's word on an operation."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.requests import OPERATIONS_SETTLE
from gateway.stages.execute.operation.record import State
from gateway.stages.feedback.context import Context

_HINDRANCES: Final[Mapping[str, str]] = {
    State.DONE: "is settled already, as executed",
    State.REFUSED: "is settled already, as refused",
    State.FREE: "is settled already, as not executed",
    State.CLAIMED: "is still being carried out",
    State.SENT: "is still being carried out",
    State.LISTENING: "cannot be settled as not executed while the gateway still listens for its answer",
}

# No settlement is taken back: somebody may have acted on it. What can still be done depends on what it said.
_INSTEAD: Final[Mapping[str, str]] = {
    State.DONE: "Stop: a settlement stands. If it was not executed after all, do it once more on purpose: "
    "call it with repeat_of, which its tool must allow and a person approve.",
    State.REFUSED: "Stop: a settlement stands. If it was executed after all, see to it that nobody makes the same call "
    "again: once the refusal is forgotten, it is carried out.",
    State.FREE: "Stop: a settlement stands. If it was executed after all, see to it that nobody makes the same call "
    "again: it would be carried out.",
    State.CLAIMED: "Wait for its call to end before you settle it.",
    State.SENT: "Wait for its call to end before you settle it.",
    State.LISTENING: "Wait for the gateway to stop listening before you settle it so.",
}


def _needing(context: Context) -> str:
    """What it is that needs the permission: a tool, or the settling of what it has done."""
    if context.permission == OPERATIONS_SETTLE and context.operation_id:
        return f"settling operation {context.operation_id}"
    return context.tool or "the tool"


def _unsettled(context: Context) -> str:
    return _HINDRANCES.get(context.state or "", "cannot be settled in this way")


def _instead(context: Context) -> str:
    if context.reason:
        return "Correct the result, or leave it out where only the effect is known."
    return _INSTEAD.get(context.state or "", "Read the operation, then correct the settlement.")


SETTLING_FRAGMENTS: Final[Mapping[str, Callable[[Context], str]]] = MappingProxyType(
    {"needing": _needing, "unsettled": _unsettled, "instead": _instead}
)
