"""The log of a task as a person reads it: one line for each thing that happened. Pure.

The lines hold what history holds: sensitive values are replaced there already.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from agent_client import events as ev
from agent_client.codec import read_event
from agent_client.journal import Entry
from agent_client.state import ActionStatus, PlannedCall, ToolRecord
from agent_client.status import STATUS_OF

MOST: Final = 160
"""Characters of one argument list or text in a line."""

_KEY_SHOWN: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One line.

    Attributes:
        at_wall: when it became durable, in seconds since 1970 UTC, by its worker's clock.
        version: of the state it became part of.
        step: of the loop, as far as it had come.
        what: a word for it.
        seconds: how long it took, or was waited; None where that is nothing to tell.
    """

    position: int
    at_wall: float
    version: int
    step: int
    what: str
    text: str
    seconds: float | None = None


@dataclass(slots=True)
class _Reading:
    """What later lines need to know of earlier ones."""

    step: int = 0
    tools: dict[str, str] = field(default_factory=dict)
    suspended_at: float | None = None


_Line = tuple[str, str, float | None] | None


def timeline(entries: Iterable[Entry]) -> tuple[Moment, ...]:
    """The lines of these entries, oldest first. Raises CorruptLog."""
    reading = _Reading()
    lines: list[Moment] = []
    for entry in entries:
        event = read_event(entry.body)
        line = _TELLS[event.kind](event, reading) if event.kind in _TELLS else None
        if line is not None:
            what, text, seconds = line
            lines.append(
                Moment(
                    position=entry.position,
                    at_wall=entry.at_wall,
                    version=entry.version,
                    step=reading.step,
                    what=what,
                    text=text,
                    seconds=seconds,
                )
            )
    return tuple(lines)


def _admitted(event: ev.Admitted, _: _Reading) -> _Line:
    limits = event.limits
    bounds = f"at most {limits.max_steps} steps, {limits.active_seconds:g} s, {limits.max_tokens:,} tokens"
    return "admitted", f"{event.task_type}: {bounds}", None


def _entered(_: ev.Entered, __: _Reading) -> _Line:
    return "taken", "by a worker", None


def _step_began(event: ev.StepBegan, reading: _Reading) -> _Line:
    reading.step = event.step
    return None


def _inference_failed(event: ev.InferenceFailed, _: _Reading) -> _Line:
    then = "asked again" if event.retried else "given up"
    return "no reply", f"attempt {event.attempt}: {_clip(event.message)}; {then}", event.seconds


def _decided(event: ev.Decided, reading: _Reading) -> _Line:
    reading.step = event.step
    for call in event.calls:
        reading.tools[call.call_id] = call.name
    calls = "; ".join(_call(call) for call in event.calls) or "words only"
    return "decided", f"{calls} ({event.input_tokens + event.output_tokens:,} tokens)", event.seconds


def _planned(event: ev.Planned, reading: _Reading) -> _Line:
    reading.tools[event.call.call_id] = event.call.name
    return "fixed call", _call(event.call), None


def _noted(event: ev.Noted, _: _Reading) -> _Line:
    return "told", f"{event.observation.code}: {_clip(event.observation.text)}", None


def _acted(event: ev.Acted, reading: _Reading) -> _Line:
    action = event.action
    reading.tools[action.call_id] = action.kind
    waits = action.status is ActionStatus.PROPOSED
    text = f"{action.kind} {_arguments(action.arguments)}, operation key {action.key[:_KEY_SHOWN]}…"
    return ("proposed" if waits else "intent saved"), text, None


def _resent(event: ev.Resent, reading: _Reading) -> _Line:
    return "sent again", f"{_tool(event.call_id, reading)}, under the same key", None


def _unproved(event: ev.Unproved, _: _Reading) -> _Line:
    return "in doubt", f"{_record(event.record)}: it may or may not have been carried out", None


def _observed(event: ev.Observed, _: _Reading) -> _Line:
    source = (
        "" if event.evidence is None else f" → {event.evidence.id} from {event.evidence.source or 'an unnamed system'}"
    )
    replayed = ", a stored answer" if event.evidence is not None and event.evidence.replayed else ""
    return "answered", f"{_record(event.record)}{source}{replayed}", event.seconds


def _attempted(event: ev.Attempted, _: _Reading) -> _Line:
    return "attempt", f"{_record(event.record)}, and read again", event.seconds


def _verified(event: ev.Verified, reading: _Reading) -> _Line:
    return "verified", f"{_tool(event.call_id, reading)} was found again by an identifier of its result", None


def _flagged(event: ev.Flagged, reading: _Reading) -> _Line:
    return "FLAGGED", f"{_tool(event.call_id, reading)}: nobody can say whether it was done; a person must look", None


def _suspended(event: ev.Suspended, reading: _Reading) -> _Line:
    reading.suspended_at = event.at_wall
    return "SUSPENDED", _clip(event.detail), None


def _woken(event: ev.Woken, reading: _Reading) -> _Line:
    since, reading.suspended_at = reading.suspended_at, None
    waited = None if since is None else max(0.0, event.at_wall - since)
    tool = _tool(event.call_id, reading)
    return "woken", f"{tool} is approved" if event.granted else f"{tool} is not approved", waited


def _sequence_began(event: ev.SequenceBegan, reading: _Reading) -> _Line:
    return "fixed", f"the sequence after {_tool(event.approved, reading)} begins; no model is asked", None


def _sequence_ended(_: ev.SequenceEnded, __: _Reading) -> _Line:
    return "fixed", "the sequence is over", None


def _polled(event: ev.Polled, _: _Reading) -> _Line:
    return "waited", f"{event.polls} poll", None


def _corrected(event: ev.Corrected, _: _Reading) -> _Line:
    return "corrected", f"{event.flag}: {_clip(event.observation.text)}", None


def _finished(event: ev.Finished, _: _Reading) -> _Line:
    return STATUS_OF[event.reason].value, f"{event.reason.value}: {_clip(event.detail)}", None


def _record(record: ToolRecord) -> str:
    how = "ok" if record.outcome == "ok" and record.code is None else record.code or record.outcome.value
    return f"{record.tool} {how}, {record.request_id}"


def _call(call: PlannedCall) -> str:
    return f"{call.name} {_clip(call.arguments)}"


def _arguments(arguments: Mapping[str, Any]) -> str:
    return _clip(json.dumps(arguments, ensure_ascii=False))


def _tool(call_id: str, reading: _Reading) -> str:
    return reading.tools.get(call_id, call_id)


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST else f"{line[:MOST]}…"


_TELLS: Final[Mapping[str, Callable[[Any, _Reading], _Line]]] = MappingProxyType(
    {
        "admitted": _admitted,
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
        "corrected": _corrected,
        "finished": _finished,
    }
)
"""`marked` and `watched` are bookkeeping: nothing to read."""
