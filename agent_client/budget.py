"""Budgets, asked for in two places: before the model is called and after something was observed. Pure."""

from agent_client.events import Finished
from agent_client.state import LoopState
from agent_client.status import Reason


def before_step(state: LoopState, active_s: float) -> Finished | None:
    """Why no further step may begin, or None. Whether its prompt can be afforded is known once it is made."""
    if state.step_count >= state.limits.max_steps:
        return Finished(reason=Reason.STEPS, detail=f"all {state.limits.max_steps} steps are used")
    return after_observation(state, active_s)


def after_observation(state: LoopState, active_s: float) -> Finished | None:
    """Why the task must end now, or None: a slow tool may have used up its time."""
    limits, used = state.limits, state.usage.tokens_used
    if active_s >= limits.active_seconds:
        return Finished(reason=Reason.DEADLINE, detail=f"{active_s:.1f} s of {limits.active_seconds:g} s are used")
    if used >= limits.max_tokens:
        return Finished(reason=Reason.TOKENS, detail=f"{used} of {limits.max_tokens} tokens are used")
    return None


def unaffordable(state: LoopState, needed: int) -> Finished:
    """The next prompt and its reply do not fit what is left."""
    left = state.limits.max_tokens - state.usage.tokens_used
    return Finished(
        reason=Reason.TOKENS, detail=f"the next inference needs {needed} tokens and {max(0, left)} are left"
    )
