"""States to begin with, and events to make of them what a test needs."""

import json
from typing import Any

from agent_client.events import Acted, Admitted, Decided, Event, Marked, Noted, Observed, StepBegan
from agent_client.fingerprints import fingerprint
from agent_client.fold import apply, fold
from agent_client.limits import Limits
from agent_client.state import (
    Action,
    ActionStatus,
    Evidence,
    LoopState,
    Observation,
    Outcome,
    PlannedCall,
    ToolRecord,
)

ADMITTED = Admitted(
    task_id="task-1",
    task_type="refund",
    trace_id="a" * 32,
    goal="Refund it.",
    limits=Limits(max_steps=8),
    at_wall=100.0,
)


def fresh(**limits: Any) -> LoopState:
    """A task that was just admitted."""
    return fold(None, [ADMITTED.model_copy(update={"limits": Limits(**{"max_steps": 8, **limits})})])


def after(state: LoopState, *events: Event) -> LoopState:
    """The state after these."""
    for event in events:
        state = apply(state, event)
    return state


def decided(
    step: int, *names: str, text: str = "", arguments: str = "{}", tokens: tuple[int, int] = (90, 10)
) -> Decided:
    """A decision of so many calls."""
    calls = tuple(
        PlannedCall(call_id=f"call_{step}_{at}", name=name, arguments=arguments)
        for at, name in enumerate(names, start=1)
    )
    return Decided(
        step=step,
        text=text,
        calls=calls,
        raw={"text": text},
        prompt_hash="h",
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        seconds=1.0,
    )


def seen(
    state: LoopState, call_id: str, tool: str, payload: Any, *, source: str = "payments", **arguments: Any
) -> Observed:
    """A call that was answered with this."""
    evidence = Evidence(
        id=f"ev-{len(state.evidence) + 1}",
        step=state.step_count,
        call_id=call_id,
        tool=tool,
        arguments=arguments,
        request_id=f"req-{len(state.evidence) + 1}",
        fetched_at="2026-10-28T09:14:02Z",
        source=source,
        payload=payload,
        payload_hash=fingerprint(payload),
    )
    record = ToolRecord(
        step_id=state.step_count,
        call_id=call_id,
        tool=tool,
        args_hash=fingerprint(arguments),
        outcome=Outcome.OK,
        request_id=evidence.request_id,
        evidence_id=evidence.id,
        summary=f"{tool}: ok",
    )
    told = Observation(step=state.step_count, call_id=call_id, code="ok", text="answered", evidence_id=evidence.id)
    return Observed(record=record, observation=told, evidence=evidence, seconds=0.5)


def failed(state: LoopState, call_id: str, tool: str, code: str) -> Observed:
    """A call that was refused."""
    record = ToolRecord(
        step_id=state.step_count,
        call_id=call_id,
        tool=tool,
        args_hash="h",
        outcome=Outcome.ERROR,
        request_id="req",
        code=code,
        summary=f"{tool}: {code}",
    )
    return Observed(
        record=record, observation=Observation(step=state.step_count, call_id=call_id, code=code, text="no")
    )


def acted(
    call_id: str, kind: str = "issue_refund", status: ActionStatus = ActionStatus.INTENDED, **changes: Any
) -> Acted:
    """An action that is saved."""
    fields: dict[str, Any] = {
        "call_id": call_id,
        "step": 1,
        "kind": kind,
        "arguments": {"order_id": "ORD-1"},
        "args_hash": "h",
        "key": f"key-{call_id}",
        "action_hash": "sha256:1",
        "store_epoch": "e1",
        "status": status,
        "sends": 1,
    }
    return Acted(action=Action(**{**fields, **changes}))


def noted(step: int, call_id: str | None, code: str, text: str = "words") -> Noted:
    """Something the model is told."""
    return Noted(observation=Observation(step=step, call_id=call_id, code=code, text=text))


def marked(*, checkpoint: bool = True, at_wall: float = 101.0, active_s: float = 1.0) -> Marked:
    """The end of a commit."""
    return Marked(checkpoint=checkpoint, at_wall=at_wall, active_s=active_s)


def one_read(state: LoopState, tool: str, payload: Any, **arguments: Any) -> LoopState:
    """A whole step with one read, up to but without its watching."""
    step = state.step_count + 1

    state = after(state, StepBegan(step=step), decided(step, tool, arguments=json.dumps(arguments)))
    return after(state, seen(state, f"call_{step}_1", tool, payload, **arguments))
