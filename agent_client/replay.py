"""A recorded decision, made again: the state as it was, the tools' recorded answers, and a model of today.

Nothing runs and nothing is written. The prompt is rendered anew from the state, so what is compared is today's model,
instructions, rendering and tool schemas with what was decided then. Sensitive arguments are not in history: both
sides show them as replaced, and they are never a difference.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Final

from agent_client.arguments import Misfit, read_arguments
from agent_client.codec import read_event, state_of
from agent_client.events import Decided, Event, Finished, StepBegan
from agent_client.findings import Findings
from agent_client.fingerprints import fingerprint
from agent_client.fold import admit, apply
from agent_client.inference import ModelTrouble
from agent_client.journal import Log
from agent_client.ports import Checkpoints, Clock, Model
from agent_client.redaction import without
from agent_client.state import LoopState
from agent_client.steps.construct import construct
from agent_client.steps.decide import prompt_hash
from agent_client.steps.observe import observe
from agent_client.steps.validate import validate
from agent_client.task_type import TaskType
from agent_client.toolbox import Toolbox
from agent_client.waiting import within

_ABSENT: Final = "(absent)"


class NoDecision(LookupError):  # noqa: N818 - what it is
    """No model decided at this version, or what it was shown is no longer kept."""


class Change(StrEnum):
    """How a proposed call differs from the recorded one in its place."""

    SAME = "same"
    ARGUMENTS = "arguments"
    TOOL = "tool"
    ADDED = "added"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """One call of a decision.

    Attributes:
        arguments: sensitive values replaced; the raw text where it is no JSON object.
        verdict: `valid`, or why the loop would reject it. Nothing was authorised.
    """

    name: str
    arguments: Any
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDiff:
    """The two calls of one place; None: there is none on that side.

    Attributes:
        arguments: names that differ, each with (recorded, proposed).
    """

    change: Change
    recorded: ReplayedCall | None
    proposed: ReplayedCall | None
    arguments: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDiff:
    """A decision, recorded and proposed.

    Attributes:
        version: of the state it was made from.
        same_prompt: what the model was shown is, to the letter, what the recorded one was shown.
        trouble: why nothing was proposed; None when something was.
        recorded_text, proposed_text: prose beside the calls. No decision reads it, and it makes no difference here.
    """

    task_id: str
    version: int
    step: int
    same_prompt: bool
    calls: tuple[CallDiff, ...]
    trouble: str | None = None
    recorded_text: str = ""
    proposed_text: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def same(self) -> bool:
        """The same calls with the same arguments in the same order."""
        return self.trouble is None and all(call.change is Change.SAME for call in self.calls)

    @property
    def recorded(self) -> tuple[ReplayedCall, ...]:
        """What was decided then."""
        return tuple(call.recorded for call in self.calls if call.recorded is not None)

    @property
    def proposed(self) -> tuple[ReplayedCall, ...]:
        """What is proposed today."""
        return tuple(call.proposed for call in self.calls if call.proposed is not None)


async def replay(
    task_id: str, at: int, *, checkpoints: Checkpoints, task: TaskType, tools: Toolbox, model: Model, clock: Clock
) -> ReplayDiff:
    """Compare the decision made from version `at` with what `model` proposes from the same state.

    Raises:
        NoDecision: none was made from it, or the log of that time was pruned.
    """
    state, recorded = await decision_at(task_id, at, checkpoints)
    request = construct(observe(state, task, state.usage.active_s), task, tools)
    offered = task.offered(Findings(state))
    then = tuple(
        _call(call.name, call.arguments, tools, offered, sealed=call.sealed is not None) for call in recorded.calls
    )
    if isinstance(request, Finished):
        return _diff(task_id, at, recorded, then, trouble=request.detail)
    same_prompt = prompt_hash(request) == recorded.prompt_hash
    try:
        reply = await within(clock, request.timeout_s or state.limits.inference_seconds, model(request))
    except (ModelTrouble, TimeoutError) as trouble:
        return _diff(task_id, at, recorded, then, same_prompt=same_prompt, trouble=str(trouble))
    now = tuple(_call(call.name, call.arguments, tools, offered) for call in reply.tool_calls)
    return _diff(
        task_id,
        at,
        recorded,
        then,
        now,
        same_prompt=same_prompt,
        proposed_text=reply.text,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
    )


async def decision_at(task_id: str, at: int, checkpoints: Checkpoints) -> tuple[LoopState, Decided]:
    """The state a decision was made from, and the decision. Raises NoDecision."""
    start, events = await _history(task_id, at, checkpoints)
    versions: list[int] = []
    for state, decided in _decisions(start, events):
        if state.version == at:
            return state, decided
        versions.append(state.version)
    known = f"decisions were made from {', '.join(map(str, versions))}" if versions else "no model has decided yet"
    raise NoDecision(f"task {task_id}: no decision was made from version {at}; {known}")


async def _history(task_id: str, at: int, checkpoints: Checkpoints) -> tuple[LoopState | None, list[Event]]:
    """Every event that is kept, or those from version `at` on where earlier ones were pruned."""
    entries = await checkpoints.events(task_id)
    if entries and entries[0].position == 1:
        return None, [read_event(entry.body) for entry in entries]
    log = await checkpoints.load(task_id, version=at)
    if log is None:
        raise NoDecision(f"task {task_id}: version {at} is not there, or was pruned")
    start = None if log.snapshot is None else state_of(_only_snapshot(log))
    known = 0 if log.snapshot is None else log.snapshot.position
    return start, [read_event(entry.body) for entry in await checkpoints.events(task_id, after=known)]


def _only_snapshot(log: Log) -> Log:
    snapshot = log.snapshot
    if snapshot is None:
        raise NoDecision(f"task {log.task_id}: there is no snapshot")
    return Log(
        task_id=log.task_id,
        position=snapshot.position,
        version=snapshot.version,
        headline=log.headline,
        snapshot=snapshot,
        entries=(),
    )


def _decisions(state: LoopState | None, events: Iterable[Event]) -> Iterator[tuple[LoopState, Decided]]:
    """Each decision with the state it was made from: the one before its step was spent."""
    seen = state
    for event in events:
        if state is not None and isinstance(event, StepBegan):
            seen = state
        if seen is not None and isinstance(event, Decided):
            yield seen, event
        state = admit(event) if state is None else apply(state, event)


def _call(name: str, raw: str, tools: Toolbox, offered: tuple[str, ...], *, sealed: bool = False) -> ReplayedCall:
    arguments = read_arguments(raw)
    names = tools.sensitive.get(name, frozenset[str]().union(*tools.sensitive.values()))
    checked = validate(name, raw, tools, offered)
    verdict = f"{checked.code}: {checked.text}" if isinstance(checked, Misfit) else "valid"
    shown = raw if isinstance(arguments, Misfit) else without(arguments, names)
    # What stands in history for a sealed value need not fit the schema; it fitted, or did not, when it was real.
    return ReplayedCall(
        name=name, arguments=shown, verdict="not checked: sensitive values are sealed" if sealed else verdict
    )


def _diff(
    task_id: str,
    version: int,
    recorded: Decided,
    then: tuple[ReplayedCall, ...],
    now: tuple[ReplayedCall, ...] = (),
    **more: Any,
) -> ReplayDiff:
    return ReplayDiff(
        task_id=task_id,
        version=version,
        step=recorded.step,
        calls=tuple(compare(was, is_) for was, is_ in zip_longest(then, now)),
        recorded_text=recorded.text,
        **{"same_prompt": False, **more},
    )


def compare(recorded: ReplayedCall | None, proposed: ReplayedCall | None) -> CallDiff:
    """The two calls of one place."""
    differing: dict[str, tuple[Any, Any]] = {}
    if recorded is None:
        change = Change.ADDED
    elif proposed is None:
        change = Change.MISSING
    elif recorded.name != proposed.name:
        change = Change.TOOL
    else:
        differing = _differing(recorded.arguments, proposed.arguments)
        change = Change.ARGUMENTS if differing else Change.SAME
    return CallDiff(change=change, recorded=recorded, proposed=proposed, arguments=differing)


def _differing(recorded: Any, proposed: Any) -> dict[str, tuple[Any, Any]]:
    if not isinstance(recorded, Mapping) or not isinstance(proposed, Mapping):
        return {} if recorded == proposed else {"": (recorded, proposed)}
    return {
        name: (recorded.get(name, _ABSENT), proposed.get(name, _ABSENT))
        for name in sorted({*recorded, *proposed})
        if (name in recorded) is not (name in proposed)
        or fingerprint(recorded.get(name)) != fingerprint(proposed.get(name))
    }
