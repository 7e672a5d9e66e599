"""Tasks, timelines and comparisons as a person reads them."""

from collections.abc import Sequence
from typing import Any

import click

from agent_client.journal import Task
from agent_client.replay import Change, ReplayDiff, ReplayedCall
from agent_client.state import LoopState
from agent_client.timeline import Moment
from gateway.cli.output import print_fields, print_table, second


def span(seconds: float) -> str:
    """Short ones with tenths, long ones as a clock."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    hours, rest = divmod(round(seconds), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}"


def print_tasks(tasks: Sequence[Task]) -> None:
    """One line a task."""
    rows = [
        [t.task_id, t.headline.task_type, t.headline.status, t.headline.reason, t.version, second(t.updated_wall)]
        for t in tasks
    ]
    print_table(["TASK", "TYPE", "STATUS", "REASON", "VERSION", "UPDATED"], rows, "No such task.")


def print_task(state: LoopState, lines: Sequence[Moment], *, pruned: bool) -> None:
    """A task: how it stands, what happened, what is known, what was done."""
    print_fields(_head(state))
    click.echo()
    if pruned:
        click.echo("(what happened earlier was pruned)")
    print_table(["AFTER", "VERSION", "STEP", "WHAT", "", "TOOK"], [_line(m, state) for m in lines], "Nothing yet.")
    click.echo()
    evidence = [
        [e.id, e.tool, e.source, e.fetched_at, e.request_id, e.ref, "stored answer" if e.replayed else None]
        for e in state.evidence
    ]
    print_table(["EVIDENCE", "TOOL", "SOURCE", "FETCHED", "REQUEST", "REF", "NOTE"], evidence, "No evidence.")
    if state.outstanding:
        click.echo()
        actions = [
            [a.kind, "FLAGGED" if a.flagged else a.status.value, a.evidence_id, a.verify_with, a.key, a.arguments]
            for a in state.outstanding
        ]
        print_table(["ACTION", "STATUS", "EVIDENCE", "VERIFY WITH", "OPERATION KEY", "ARGUMENTS"], actions, "")


def print_diff(diff: ReplayDiff) -> None:
    """Recorded and proposed, call by call."""
    prompt = "as it was" if diff.same_prompt else "another one: instructions, tools or rendering have changed"
    verdict = "the same decision" if diff.same else "another decision"
    if diff.trouble is not None:
        verdict = f"no decision: {diff.trouble}"
    print_fields(
        {"task": diff.task_id, "version": diff.version, "step": diff.step, "prompt": prompt, "verdict": verdict}
    )
    for at, call in enumerate(diff.calls, start=1):
        click.echo()
        click.echo(
            click.style(f"call {at}: {call.change}", bold=True, fg=None if call.change is Change.SAME else "yellow")
        )
        fields: dict[str, Any] = {"  recorded": _call(call.recorded), "  proposed": _call(call.proposed)}
        for name, (was, proposed) in call.arguments.items():
            fields[f"  {name or 'arguments'}"] = f"{was!r} → {proposed!r}"
        if call.proposed is not None and call.proposed.verdict != "valid":
            fields["  verdict"] = call.proposed.verdict
        print_fields(fields)


def _head(state: LoopState) -> dict[str, Any]:
    limits, used = state.limits, state.usage
    head: dict[str, Any] = {
        "task": f"{state.task_id} ({state.task_type})",
        "goal": state.goal,
        "status": f"{state.status.value}, {state.reason.value}",
        "detail": state.detail or None,
        "answer": state.answer,
        "steps": f"{state.step_count} of {limits.max_steps}",
        "tokens": f"{used.tokens_used:,} of {limits.max_tokens:,}",
        "active": f"{span(used.active_s)} of {limits.active_seconds:g} s (model {span(used.model_s)}, tools {span(used.tool_s)})",
        "suspended": span(used.suspended_s),
        "trace": state.trace_id,
    }
    if state.approval is not None:
        lapses = second(state.approval.expires_wall) or "never"
        head["approval"] = f"{state.approval.id}, asked for {second(state.marked_wall)}, lapses {lapses}"
    if state.resumes:
        head["dropped"] = f"{state.resumes} times in a row"
    return {name: value for name, value in head.items() if value is not None}


def _line(line: Moment, state: LoopState) -> list[Any]:
    took = "" if line.seconds is None else span(line.seconds)
    return [
        f"+{span(max(0.0, line.at_wall - state.created_wall))}",
        line.version,
        line.step,
        line.what,
        line.text,
        took,
    ]


def _call(call: ReplayedCall | None) -> str:
    return "-" if call is None else f"{call.name} {call.arguments}"
