"""`apply(state, event)`: the only way to a new state. Pure: the old state stays as it was, the same events give the same state."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from agent_client import events as ev
from agent_client.state import (
    Action,
    ActionStatus,
    FixedSequence,
    LoopState,
    Monitor,
    Observation,
    Outcome,
    PlannedCall,
    Turn,
)
from agent_client.status import STATUS_OF, Reason, Status

_DONE: Final = (ActionStatus.EXECUTED, ActionStatus.VERIFIED)

RECENT: Final = 12
"""Steps the monitor remembers; a cycle of four is seen after eight."""


class IllegalEvent(ValueError):  # noqa: N818 - a fact about a log
    """The event cannot follow this state: the log is not one that the loop wrote."""


def fold(state: LoopState | None, log: Iterable[ev.Event]) -> LoopState:
    """The state after all of them. Raises IllegalEvent."""
    for event in log:
        state = admit(event) if state is None else apply(state, event)
    if state is None:
        raise IllegalEvent("a task without any event")
    return state


def admit(event: ev.Event) -> LoopState:
    """The first state of a task. Raises IllegalEvent for any event but `Admitted`."""
    if not isinstance(event, ev.Admitted):
        raise IllegalEvent(f"a task begins with admitted, not with {event.kind}")
    return LoopState(
        task_id=event.task_id,
        task_type=event.task_type,
        trace_id=event.trace_id,
        goal=event.goal,
        limits=event.limits,
        created_wall=event.at_wall,
        marked_wall=event.at_wall,
    )


def apply(state: LoopState, event: ev.Event) -> LoopState:
    """The next state. Raises IllegalEvent where the event cannot follow."""
    change = _CHANGES.get(event.kind)
    if change is None or (state.finished and event.kind != "marked"):
        raise IllegalEvent(f"{event.kind} cannot follow {state.status}")
    return state.model_copy(update=change(state, event))


def _entered(state: LoopState, event: ev.Entered) -> dict[str, Any]:
    # Taking the task is a commit, and marks the time: what was waited until then must be counted here.
    away = _away(state, event.at_wall) if state.status is Status.AWAITING_APPROVAL else 0.0
    usage = state.usage.model_copy(update={"suspended_s": state.usage.suspended_s + away})
    return {"entered": True, "resumes": state.resumes + state.entered, "usage": usage}


def _step_began(state: LoopState, event: ev.StepBegan) -> dict[str, Any]:
    if event.step != state.step_count + 1 or event.step > state.limits.max_steps:
        raise IllegalEvent(f"step {event.step} cannot follow step {state.step_count} of {state.limits.max_steps}")
    return {"step_count": event.step}


def _inference_failed(state: LoopState, event: ev.InferenceFailed) -> dict[str, Any]:
    usage = _used(state, event.input_tokens, event.output_tokens, event.seconds)
    return {"usage": usage.model_copy(update={"inference_retries": usage.inference_retries + event.retried})}


def _decided(state: LoopState, event: ev.Decided) -> dict[str, Any]:
    turn = Turn(
        step=event.step,
        text=event.text,
        calls=event.calls,
        raw=event.raw,
        input_tokens=event.input_tokens,
        output_tokens=event.output_tokens,
    )
    return {
        "turns": (*state.turns, turn),
        "plan": event.calls,
        "step_open": True,
        "usage": _used(state, event.input_tokens, event.output_tokens, event.seconds),
    }


def _planned(state: LoopState, event: ev.Planned) -> dict[str, Any]:
    if state.sequence is None:
        raise IllegalEvent("a fixed call outside its sequence")
    sequence = state.sequence.model_copy(update={"calls": (*state.sequence.calls, event.call.call_id)})
    return {"plan": (*state.plan, event.call), "sequence": sequence}


def _noted(state: LoopState, event: ev.Noted) -> dict[str, Any]:
    call_id = event.observation.call_id
    kept = tuple(a for a in state.outstanding if a.call_id != call_id or a.open or a.status in _DONE)
    return {**_told(state, event.observation), "outstanding": kept}


def _acted(state: LoopState, event: ev.Acted) -> dict[str, Any]:
    others = tuple(a for a in state.outstanding if a.call_id != event.action.call_id)
    return {"outstanding": (*others, event.action)}


def _resent(state: LoopState, event: ev.Resent) -> dict[str, Any]:
    return _action(state, event.call_id, lambda a: {"sends": a.sends + 1})


def _unproved(state: LoopState, event: ev.Unproved) -> dict[str, Any]:
    return {"tool_history": (*state.tool_history, event.record)}


def _observed(state: LoopState, event: ev.Observed) -> dict[str, Any]:
    changes = {**_told(state, event.observation), "tool_history": (*state.tool_history, event.record)}
    if event.evidence is not None:
        changes["evidence"] = (*state.evidence, event.evidence)
    changes["usage"] = _worked(state, event.seconds)
    action = state.action(event.record.call_id)
    if action is not None and event.record.outcome is Outcome.OK:
        done = {"status": ActionStatus.EXECUTED, "evidence_id": event.record.evidence_id, "sealed": None, "sends": 0}
        changes |= _action(state, action.call_id, lambda _: done)
    elif action is not None:
        changes["outstanding"] = tuple(a for a in state.outstanding if a.call_id != action.call_id)
    return changes


def _attempted(state: LoopState, event: ev.Attempted) -> dict[str, Any]:
    return {"tool_history": (*state.tool_history, event.record), "usage": _worked(state, event.seconds)}


def _verified(state: LoopState, event: ev.Verified) -> dict[str, Any]:
    return _action(state, event.call_id, lambda _: {"status": ActionStatus.VERIFIED})


def _flagged(state: LoopState, event: ev.Flagged) -> dict[str, Any]:
    return _action(state, event.call_id, lambda _: {"flagged": True})


def _suspended(state: LoopState, event: ev.Suspended) -> dict[str, Any]:
    proposed = {"status": ActionStatus.PROPOSED, "sends": 0}
    return {
        **_action(state, event.approval.call_id, lambda _: proposed),
        "approval": event.approval,
        "status": Status.AWAITING_APPROVAL,
        "reason": Reason.APPROVAL,
        "detail": event.detail,
        "entered": False,
    }


def _woken(state: LoopState, event: ev.Woken) -> dict[str, Any]:
    if state.status is not Status.AWAITING_APPROVAL:
        raise IllegalEvent("nothing waits for an approval")
    away = _away(state, event.at_wall)
    status = ActionStatus.APPROVED if event.granted else ActionStatus.PROPOSED
    return {
        **_action(state, event.call_id, lambda _: {"status": status}),
        "status": Status.RUNNING,
        "reason": Reason.RESUMED,
        "detail": "",
        "usage": state.usage.model_copy(update={"suspended_s": state.usage.suspended_s + away}),
    }


def _sequence_began(_: LoopState, event: ev.SequenceBegan) -> dict[str, Any]:
    return {"sequence": FixedSequence(approved=event.approved)}


def _sequence_ended(_: LoopState, __: ev.SequenceEnded) -> dict[str, Any]:
    return {"sequence": None}


def _polled(state: LoopState, event: ev.Polled) -> dict[str, Any]:
    return {"usage": state.usage.model_copy(update={"polls": state.usage.polls + event.polls})}


def _watched(state: LoopState, event: ev.Watched) -> dict[str, Any]:
    if not event.counted:
        return {"step_open": False}
    was = state.monitor
    seen = Counter(was.seen)
    seen.update(event.pairs)
    moved = event.state != was.last_state
    monitor = Monitor(
        seen=dict(seen),
        recent=(*was.recent, "+".join(sorted(event.pairs)))[-RECENT:],
        last_state=event.state,
        stalled=0 if moved else was.stalled + 1,
        corrected=was.corrected,
        empty=was.empty + 1 if event.empty else 0,
    )
    return {"monitor": monitor, "step_open": False}


def _corrected(state: LoopState, event: ev.Corrected) -> dict[str, Any]:
    monitor = state.monitor.model_copy(update={"corrected": (*state.monitor.corrected, event.flag)})
    return {**_told(state, event.observation), "monitor": monitor}


def _finished(_: LoopState, event: ev.Finished) -> dict[str, Any]:
    return {
        "status": STATUS_OF[event.reason],
        "reason": event.reason,
        "detail": event.detail,
        "answer": event.answer,
        "plan": (),
        "approval": None,
        "entered": False,
    }


def _marked(state: LoopState, event: ev.Marked) -> dict[str, Any]:
    return {
        "version": state.version + event.checkpoint,
        "resumes": 0 if event.checkpoint else state.resumes,
        "usage": state.usage.model_copy(update={"active_s": event.active_s}),
        "marked_wall": event.at_wall,
    }


def _told(state: LoopState, observation: Observation) -> dict[str, Any]:
    plan: tuple[PlannedCall, ...] = tuple(call for call in state.plan if call.call_id != observation.call_id)
    answered = state.approval is not None and state.approval.call_id == observation.call_id
    return {
        "observations": (*state.observations, observation),
        "plan": plan,
        "approval": None if answered else state.approval,
    }


def _used(state: LoopState, read: int, written: int, seconds: float) -> Any:
    was = state.usage
    return was.model_copy(
        update={
            "tokens_used": was.tokens_used + read + written,
            "input_tokens": was.input_tokens + read,
            "output_tokens": was.output_tokens + written,
            "model_s": was.model_s + seconds,
        }
    )


def _away(state: LoopState, until_wall: float) -> float:
    return max(0.0, until_wall - state.marked_wall)


def _worked(state: LoopState, seconds: float) -> Any:
    return state.usage.model_copy(update={"tool_s": state.usage.tool_s + seconds})


def _action(state: LoopState, call_id: str, change: Callable[[Action], Mapping[str, Any]]) -> dict[str, Any]:
    if state.action(call_id) is None:
        raise IllegalEvent(f"call {call_id} is no action")
    changed = (a.model_copy(update=change(a)) if a.call_id == call_id else a for a in state.outstanding)
    return {"outstanding": tuple(changed)}


_CHANGES: Final[Mapping[str, Callable[[LoopState, Any], dict[str, Any]]]] = MappingProxyType(
    {
        "entered": _entered,
        "step_began": _step_began,
        "inference_failed": _inference_failed,
        "decided": _decided,
        "planned": _planned,
        "noted": _noted,
        "acted": _acted,
        "resent": _resent,
        "unproved": _unproved,
        "observed": _observed,
        "attempted": _attempted,
        "verified": _verified,
        "flagged": _flagged,
        "suspended": _suspended,
        "woken": _woken,
        "sequence_began": _sequence_began,
        "sequence_ended": _sequence_ended,
        "polled": _polled,
        "watched": _watched,
        "corrected": _corrected,
        "finished": _finished,
        "marked": _marked,
    }
)
