"""Step 8: what a step did, and whether the task may or must end. Pure; no decision here reads a model's prose."""

from agent_client import budget, progress
from agent_client.arguments import Misfit, read_arguments
from agent_client.events import Corrected, Finished, Watched
from agent_client.findings import Findings
from agent_client.state import LoopState, Observation, PlannedCall
from agent_client.status import STATUS_OF, Reason, Status
from agent_client.task_type import TaskType

_UNCOUNTED = frozenset({"finish", "wait"})
"""Bounded otherwise: a rejected finish by the steps it costs, a wait by its own budget."""

MAX_EMPTY = 2


def watch(state: LoopState) -> Watched:
    """The step in fingerprints."""
    turn = state.turns[-1]
    told = {o.call_id: o for o in state.observations if o.step == turn.step}
    hashes = {e.id: e.payload_hash for e in state.evidence if e.step == turn.step}
    counted = [call for call in turn.calls if call.name not in _UNCOUNTED]
    pairs = tuple(_pair(call, told.get(call.call_id), hashes) for call in counted)
    empty = not turn.calls and not turn.text.strip()
    return Watched(pairs=pairs, state=progress.progress_of(state), counted=bool(counted) or not turn.calls, empty=empty)


def after_step(state: LoopState, watched: Watched, active_s: float) -> Corrected | Finished | None:
    """What follows from a step that is over: nothing, one correction, or the end."""
    if (spent := budget.after_observation(state, active_s)) is not None:
        return spent
    if state.monitor.empty >= MAX_EMPTY:
        return Finished(reason=Reason.NO_ACTION, detail="the model proposes nothing, and the goal is not met")
    return progress.judge(state, watched) if watched.counted else None


def finish_proposed(state: LoopState, task: TaskType, outcome: str, summary: str) -> Finished | str:
    """A `finish`: the end, or why it is rejected. The model wants to stop; the predicate says whether it may."""
    if outcome != "done":
        return Finished(reason=Reason.NO_ACTION, detail=f"the model sees no way to the goal: {summary}")
    done, words = task.completion(Findings(state))
    return Finished(reason=Reason.VERIFIED, detail=words, answer=summary) if done else words


def ending(state: LoopState, task: TaskType, finished: Finished) -> Finished:
    """The end as it stands. Where only a budget ends the task, evidence that it is done still counts."""
    if STATUS_OF[finished.reason] is Status.BUDGET_EXHAUSTED and not state.open_actions:
        done, words = task.completion(Findings(state))
        if done:
            return Finished(reason=Reason.VERIFIED, detail=f"{words} ({finished.detail})")
    return finished


def _pair(call: PlannedCall, told: Observation | None, hashes: dict[str, str]) -> str:
    arguments = read_arguments(call.arguments)
    if told is None:
        seen: object = None
    else:
        seen = hashes.get(told.evidence_id or "") or [told.code, told.text]
    return progress.pair(call.name, call.arguments if isinstance(arguments, Misfit) else arguments, seen)
