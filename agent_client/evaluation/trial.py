"""One case under one fault, from admission to its end."""

import asyncio
import inspect
import re
from dataclasses import dataclass, replace
from typing import Final

from agent_client.evaluation.cases import Case
from agent_client.evaluation.failures import Failing, failing, looped
from agent_client.evaluation.faults import DuplicateDelivery, Fault, Trap, WorkerDied
from agent_client.evaluation.trajectory import chosen, compare
from agent_client.runner import Runner
from agent_client.state import LoopState
from agent_client.status import Status

_DECISIONS: Final = 8
_HANDOVERS: Final = 4
_HEX: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of it.

    Attributes:
        fault: in words; None: nothing was injected.
        struck: the fault happened; a fault in a write has nothing to strike at in a task without one.
        verified: the case's look at the world agrees.
        accuracy: of tool calls, 0 to 1; None: the case has no reference.
        failing: why it is not completed; None: it is, or the trial itself broke.
        broke: the trial ended with an exception, in words.
        model_s, tool_s, suspended_s: where its time went, in seconds.
    """

    case: str
    fault: str | None
    task_id: str
    status: Status
    reason: str
    detail: str = ""
    struck: bool = False
    verified: bool = False
    accuracy: float | None = None
    steps: int = 0
    looped: bool = False
    tokens: int = 0
    model_s: float = 0.0
    tool_s: float = 0.0
    suspended_s: float = 0.0
    failing: Failing | None = None
    broke: str | None = None

    @property
    def completed(self) -> bool:
        """It SUCCEEDED, and the world agrees."""
        return self.status is Status.SUCCEEDED and self.verified

    @property
    def false_success(self) -> bool:
        """It SUCCEEDED, and the world does not agree."""
        return self.status is Status.SUCCEEDED and not self.verified


async def attempt(case: Case, fault: Fault | None, runner: Runner) -> Trial:
    """Run the case once. Nothing that goes wrong in it is raised."""
    words = None if fault is None else str(fault)
    task_id = _task_id(case.name, words, runner.chance.hex(_HEX))
    trap = Trap(fault)
    edges = trap.around(runner.edges if case.model is None else replace(runner.edges, model=case.model()))
    try:
        await runner.start(case.task_type, goal=case.goal, task_id=task_id, limits=case.limits)
        state = await _to_the_end(case, runner.over(edges), task_id, trap)
        verified = await _verified(case, state)
    except Exception as error:  # noqa: BLE001 - one broken trial must not cost the others' results
        broke = f"{type(error).__name__}: {error}"
        return Trial(
            case=case.name,
            fault=words,
            task_id=task_id,
            status=Status.RUNNING,
            reason="broke",
            struck=trap.sprung,
            broke=broke,
        )
    finally:
        await asyncio.gather(*trap.abroad, return_exceptions=True)
    return _told(case, words, state, struck=trap.sprung, verified=verified)


async def _to_the_end(case: Case, worker: Runner, task_id: str, trap: Trap) -> LoopState:
    """Until the task is over, or waits for a person who is not there."""
    state = await _deliver(worker, task_id, trap)
    for _ in range(_DECISIONS):
        if state.status is not Status.AWAITING_APPROVAL or case.person is None:
            break
        await case.person(state)
        state = await _deliver(worker, task_id, trap)
    # What a dead worker had sent is in the world before anybody looks at it.
    await asyncio.gather(*trap.abroad, return_exceptions=True)
    return state


async def _deliver(worker: Runner, task_id: str, trap: Trap) -> LoopState:
    if isinstance(trap.fault, DuplicateDelivery):
        trap.sprung = True
        await asyncio.gather(worker.run(task_id), worker.over(worker.edges).run(task_id))
    state = await _survived(worker, task_id)
    for _ in range(_HANDOVERS):
        if state.status is not Status.RUNNING:
            break
        state = await _survived(worker, task_id)
    return state


async def _survived(worker: Runner, task_id: str) -> LoopState:
    """Run it; when the worker dies, another takes it up with nothing but what is durable."""
    try:
        return await worker.run(task_id)
    except WorkerDied:
        return await worker.over(worker.edges).run(task_id)


async def _verified(case: Case, state: LoopState) -> bool:
    answer = case.verify(state)
    return bool(await answer if inspect.isawaitable(answer) else answer)


def _told(case: Case, fault: str | None, state: LoopState, *, struck: bool, verified: bool) -> Trial:
    trajectory = None if case.reference is None else compare(case.reference, chosen(state))
    return Trial(
        case=case.name,
        fault=fault,
        task_id=state.task_id,
        status=state.status,
        reason=state.reason.value,
        detail=state.detail,
        struck=struck,
        verified=verified,
        accuracy=None if trajectory is None else trajectory.accuracy,
        steps=state.step_count,
        looped=looped(state),
        tokens=state.usage.tokens_used,
        model_s=state.usage.model_s,
        tool_s=state.usage.tool_s,
        suspended_s=state.usage.suspended_s,
        failing=failing(state, trajectory, verified=verified),
    )


def _task_id(name: str, fault: str | None, number: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "-", f"eval {name} {fault or 'no fault'}").strip("-").lower()
    return f"{plain[:96]}-{number}"
