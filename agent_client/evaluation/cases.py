"""What is evaluated: a goal, the calls a good run makes, and a look at the world that the agent has no hand in."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from agent_client.limits import Limits
from agent_client.ports import Model
from agent_client.state import LoopState
from agent_client.task_type import Call


class _Any:
    """Equal to every argument."""

    __slots__ = ()

    def __repr__(self) -> str:
        """As it is written."""
        return "ANY"


ANY: Final[Any] = _Any()
"""For an argument of a reference call whose value does not matter: free text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One task with a known right end.

    Attributes:
        name: in the table, and part of the task's id. The same for every trial of the case.
        verify: whether the world is as it should be, asked of the world and not of the state: the provider's books, a
            test database. True is needed for a SUCCEEDED to count.
        reference: the calls of a good run in order, by the model's choice; those of a fixed sequence are not. None: the
            case has no say in tool-call accuracy.
        model: makes the model of one trial; None: the runner's. It should decide by what it is shown: after a crash it
            is asked again.
        person: plays the approver, at the gateway, whenever the task is suspended; None: it stays suspended.
    """

    name: str
    task_type: str
    goal: str
    verify: Callable[[LoopState], bool | Awaitable[bool]]
    reference: tuple[Call, ...] | None = None
    limits: Limits | None = None
    model: Callable[[], Model] | None = None
    person: Callable[[LoopState], Awaitable[None]] | None = None


CaseMaker = Callable[[int], Case]
"""Makes the case anew for each trial; the number is another every time. A write on the same order is the same
operation, and would be answered from the first trial's record: give each trial an order of its own."""
