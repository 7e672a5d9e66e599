"""The loop: eight steps in an order that is not negotiable, until the task is suspended or over.

What comes next follows from the state alone, so a worker that takes a task up in the middle goes on where it stood.
"""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from agent_client import budget
from agent_client.arguments import Misfit
from agent_client.events import Corrected, Decided, Finished, Noted, Planned, SequenceEnded, StepBegan
from agent_client.findings import Findings
from agent_client.run import Run
from agent_client.sequence import SequenceBroken, next_call, raw_arguments
from agent_client.state import LoopState, Observation, PlannedCall
from agent_client.status import Reason
from agent_client.steps.construct import construct
from agent_client.steps.decide import decide
from agent_client.steps.execute.reading import poll, read_together
from agent_client.steps.execute.settling import tell_siblings
from agent_client.steps.execute.writing import write
from agent_client.steps.observe import observe
from agent_client.steps.terminate import after_step, ending, finish_proposed, watch
from agent_client.steps.validate import Valid, Validated, Wait, validate

TOGETHER: Final = 8
"""Reads that run side by side."""

MAX_CALLS: Final = 32
"""Calls of one reply that are carried out."""

_NO_CALL: Final = "No tool was called, so nothing happened. Text is not completion: call a tool, ask_user, or finish."


class Next(StrEnum):
    """What a state calls for."""

    CALLS = "calls"
    CLOSE = "close"
    SEQUENCE = "sequence"
    STEP = "step"


def next_of(state: LoopState) -> Next:
    """Calls that were decided come before the end of their step, and that before anything new."""
    if state.plan:
        return Next.CALLS
    if state.step_open:
        return Next.CLOSE
    return Next.STEP if state.sequence is None else Next.SEQUENCE


async def carry_on(run: Run) -> None:
    """Until the task is suspended or over, with everything durable."""
    while run.state.running:
        await _DOES[next_of(run.state)](run)
    if run.recorder.dirty:
        await run.recorder.checkpoint()


async def finish(run: Run, finished: Finished) -> None:
    """End the task."""
    await run.recorder.checkpoint(ending(run.state, run.task, finished))


async def _step(run: Run) -> None:
    """Observe, construct, decide."""
    decision = await _decision(run)
    if isinstance(decision, Finished):
        await finish(run, decision)
        return
    run.add(decision)
    for call in decision.calls[MAX_CALLS:]:
        _note(run, call.call_id, "too_many_calls", f"Not executed: one reply may hold {MAX_CALLS} calls.")
    if not decision.calls:
        _note(run, None, "no_tool_call", _NO_CALL)


async def _decision(run: Run) -> Decided | Finished:
    if (spent := budget.before_step(run.state, run.recorder.active_s)) is not None:
        return spent
    outlook = observe(run.state, run.task, run.recorder.active_s)
    request = construct(outlook, run.task, run.toolbox, run.pages)
    if isinstance(request, Finished):
        return request
    run.add(StepBegan(step=run.state.step_count + 1))
    return await decide(run, request)


async def _calls(run: Run) -> None:
    """Validate, authorise, execute, record: the reads at the head of the plan together, or one other call."""
    reads: list[tuple[PlannedCall, Valid]] = []
    for call in run.state.plan:
        checked = _validated(run, call)
        if not isinstance(checked, Valid) or not run.toolbox.is_read(checked.name):
            break
        reads.append((call, checked))
        if len(reads) == TOGETHER:
            break
    if reads:
        await read_together(run, reads)
    else:
        call = run.state.plan[0]
        await _one(run, call, _validated(run, call))
    if run.state.running and (spent := budget.after_observation(run.state, run.recorder.active_s)) is not None:
        await finish(run, spent)


async def _one(run: Run, call: PlannedCall, checked: Validated) -> None:
    match checked:
        case Misfit(code=code, text=text):
            _note(run, call.call_id, code, f"Rejected, nothing was executed: {text}.")
        case Wait() if run.state.usage.polls >= run.state.limits.max_polls:
            _note(run, call.call_id, "polls", "Not executed: all polls of this task are used. Go on without waiting.")
        case Wait():
            await poll(run, call, checked)
        case Valid(name="finish", arguments=given):
            _finish_proposed(run, call, str(given["outcome"]), str(given["summary"]))
        case Valid(name="ask_user", arguments=given):
            run.add(Finished(reason=Reason.QUESTION, detail=str(given["question"])))
        case Valid():
            if not await write(run, call, checked) and run.state.running:
                tell_siblings(run, call.call_id, "an earlier action of the same reply was not carried out")


def _finish_proposed(run: Run, call: PlannedCall, outcome: str, summary: str) -> None:
    verdict = finish_proposed(run.state, run.task, outcome, summary)
    if isinstance(verdict, Finished):
        run.add(verdict)
    else:
        _note(run, call.call_id, "completion_rejected", f"completion rejected: {verdict}")


async def _close(run: Run) -> None:
    """Check for termination, and make the step durable: as a version, unless all it did already is."""
    new = run.recorder.dirty
    watched = watch(run.state)
    run.add(watched)
    verdict = after_step(run.state, watched, run.recorder.active_s)
    match verdict:
        case Finished():
            await finish(run, verdict)
        case Corrected():
            await run.recorder.checkpoint(verdict)
        case None:
            await (run.recorder.checkpoint if new else run.recorder.note)()


async def _sequence(run: Run) -> None:
    """The next fixed call; at the end the predicate, without a model."""
    if run.recorder.dirty:
        await run.recorder.checkpoint()
    planned = _fixed_call(run)
    if isinstance(planned, Planned):
        run.add(planned)
        return
    run.add(SequenceEnded())
    done, words = run.task.completion(Findings(run.state))
    if done:
        await finish(run, Finished(reason=Reason.VERIFIED, detail=words))
        return
    _note(run, None, "sequence", f"The fixed sequence after the approval {planned}. Not done yet: {words}")
    await run.recorder.checkpoint()


def _fixed_call(run: Run) -> Planned | str:
    """The call, or how the sequence ended."""
    sequence = run.state.sequence
    try:
        call = None if sequence is None else next_call(run.state, run.task, sequence)
        if sequence is None or call is None:
            return "is over"
        call_id = f"fixed_{run.state.step_count}_{len(sequence.calls) + 1}"
        return Planned(call=run.secrecy.planned(call_id, call.tool, raw_arguments(call)))
    except SequenceBroken as broken:
        return f"stopped: {broken}"


def _validated(run: Run, call: PlannedCall) -> Validated:
    """A planned call, checked against what is offered now; a fixed sequence may use the whole allow-list."""
    if call.cut:
        # What is left of "amount": 42500 reads as another amount.
        return Misfit(code="invalid_json", text=_CUT)
    fixed = run.state.sequence is not None and call.call_id in run.state.sequence.calls
    offered = tuple(run.task.tools) if fixed else run.task.offered(Findings(run.state))
    try:
        raw = run.secrecy.real(call)
    except ValueError as lost:
        return Misfit(code="gateway_config_error", text=str(lost))
    return validate(call.name, raw, run.toolbox, offered)


def _note(run: Run, call_id: str | None, code: str, text: str) -> None:
    run.add(Noted(observation=Observation(step=run.state.step_count, call_id=call_id, code=code, text=text)))


_CUT: Final = "the reply reached the limit of its length, so this call may be cut and was not made; make it again, with less before it"
_DOES: Final[Mapping[Next, Callable[[Run], Awaitable[None]]]] = MappingProxyType(
    {Next.CALLS: _calls, Next.CLOSE: _close, Next.SEQUENCE: _sequence, Next.STEP: _step}
)
