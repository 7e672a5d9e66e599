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


def _needing(context: Context) -> str:
    """What it is that needs the permission: a tool, or the settling of what it has done."""
    if context.permission == OPERATIONS_SETTLE and context.operation_id:
        return f"settling operation {context.operation_id}"
    return context.tool or "the tool"


def _unsettled(context: Context) -> str:
    return _HINDRANCES.get(context.state or "", "cannot be settled in this way")


SETTLING_FRAGMENTS: Final[Mapping[str, Callable[[Context], str]]] = MappingProxyType(
    {"needing": _needing, "unsettled": _unsettled}
)
