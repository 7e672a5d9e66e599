"""Step 1: what the task's own record says, and nothing a model remembers."""

from dataclasses import dataclass

from agent_client.findings import Findings
from agent_client.state import LoopState
from agent_client.task_type import TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Where the task stands before a decision.

    Attributes:
        offered: tools of the stage that counts now.
        remaining_s: working time left.
        remaining_tokens: of the whole task.
    """

    state: LoopState
    offered: tuple[str, ...]
    remaining_s: float
    remaining_tokens: int


def observe(state: LoopState, task: TaskType, active_s: float) -> Outlook:
    """The outlook of a state."""
    return Outlook(
        state=state,
        offered=task.offered(Findings(state)),
        remaining_s=state.limits.active_seconds - active_s,
        remaining_tokens=state.limits.max_tokens - state.usage.tokens_used,
    )
