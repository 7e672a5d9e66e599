"""State and events as JSON text, and logs of older schemas as today's state.

JSON only, every name checked: what a log holds beyond the schema makes it unreadable, and nothing is run from it.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from agent_client.events import EVENT, Event
from agent_client.fold import IllegalEvent, fold
from agent_client.journal import CorruptLog, Headline, Log, NewEntry
from agent_client.state import SCHEMA_VERSION, LoopState

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

UPGRADES: Final[Mapping[int, Upgrade]] = {}
"""From a schema version to the next: a snapshot document in, one of the next version out."""


def write_event(event: Event) -> NewEntry:
    """An event as a store keeps it."""
    return NewEntry(kind=event.kind, body=event.model_dump_json())


def read_event(body: str) -> Event:
    """Raises CorruptLog."""
    try:
        return EVENT.validate_json(body)
    except ValidationError as error:
        raise CorruptLog(f"an event cannot be read: {_why(error)}") from error


def write_state(state: LoopState) -> str:
    """A snapshot's body."""
    return state.model_dump_json()


def read_state(body: str, upgrades: Mapping[int, Upgrade] = UPGRADES, *, to: int = SCHEMA_VERSION) -> LoopState:
    """A snapshot's state, brought up to `to`. Raises CorruptLog, also for a schema newer than this program."""
    try:
        document = json.loads(body)
        while (version := document["schema_version"]) < to:
            document = {**upgrades[version](document), "schema_version": version + 1}
        if version > to:
            raise CorruptLog(f"the snapshot has schema version {version}; this program knows {to}")
        return LoopState.model_validate(document)
    except (ValueError, KeyError, TypeError) as error:
        why = _why(error) if isinstance(error, ValidationError) else repr(error)
        raise CorruptLog(f"a snapshot cannot be read: {why}") from error


def state_of(log: Log) -> LoopState:
    """The state a log stands for. Raises CorruptLog when it is not one that the loop wrote."""
    start = None if log.snapshot is None else read_state(log.snapshot.body)
    try:
        state = fold(start, (read_event(entry.body) for entry in log.entries))
    except (IllegalEvent, ValidationError) as error:
        raise CorruptLog(f"task {log.task_id}: {error}") from error
    if state.task_id != log.task_id or state.version != log.version:
        raise CorruptLog(f"task {log.task_id}: the log is not whole")
    return state


def headline_of(state: LoopState) -> Headline:
    """What a list of tasks shows of a state."""
    open_since = [a.since_version for a in state.outstanding if a.open or a.flagged]
    if state.approval is not None and (pending := state.action(state.approval.call_id)) is not None:
        open_since.append(pending.since_version)
    return Headline(
        task_type=state.task_type,
        status=state.status.value,
        reason=state.reason.value,
        finished=state.finished,
        wake_at_wall=None if state.approval is None else state.approval.expires_wall,
        pinned_version=min(open_since, default=None),
    )


def _why(error: ValidationError) -> str:
    """Where it is wrong, without any of its text."""
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
