"""Step 7: an answer into the record: what it proves, its provenance, and what the model is told. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from agent_client.events import Observed, Verified
from agent_client.fingerprints import fingerprint
from agent_client.redaction import without
from agent_client.state import Action, ActionStatus, Evidence, LoopState, Observation, Outcome, ToolRecord
from agent_client.task_type import TaskType
from gateway.contract.codes import CallOutcome, ErrorCode, NextAction
from gateway.contract.envelope import Envelope

C = ErrorCode


class Kind(StrEnum):
    """What an answer proves, and so what may follow."""

    DONE = "done"
    """Carried out; the result is here."""
    DONE_ELSEWHERE = "done_elsewhere"
    """Carried out; the result is not here."""
    REFUSED = "refused"
    """Not carried out by this call. The model is told why."""
    DENIED = "denied"
    """The same, and policy says that no other proposal would change it."""
    FATAL = "fatal"
    """The gateway takes nothing from this caller."""
    STALE = "stale"
    """Nothing was carried out: the action is no longer what was prepared."""
    APPROVAL = "approval"
    """Nothing was carried out: a person must decide first."""
    DOUBT = "doubt"
    """It may have been carried out."""


_BY_CODE: Final[Mapping[ErrorCode, Kind]] = {
    C.INTENT_STALE: Kind.STALE,
    C.APPROVAL_REQUIRED: Kind.APPROVAL,
    C.APPROVAL_EXPIRED: Kind.APPROVAL,
    C.APPROVAL_MISMATCH: Kind.APPROVAL,
    C.UNAUTHENTICATED: Kind.FATAL,
}
_BY_OUTCOME: Final[Mapping[CallOutcome, Kind]] = {
    CallOutcome.EXECUTED: Kind.DONE_ELSEWHERE,
    CallOutcome.NOT_EXECUTED: Kind.REFUSED,
    CallOutcome.UNKNOWN: Kind.DOUBT,
}
_POLICY: Final = frozenset({C.FORBIDDEN, C.OVER_LIMIT, C.NOT_OWNER, C.RULE_DENIED, C.REPEAT_NOT_ALLOWED})
"""Codes of authorisation. One of them with `next_action: stop` is the operator's word that asking otherwise is vain."""


def kind_of(envelope: Envelope) -> Kind:
    """What an answer proves. Only an envelope can prove anything: no answer at all is doubt."""
    error = envelope.error
    if error is None:
        return Kind.DONE
    if error.code in _POLICY and error.next_action is NextAction.STOP:
        return Kind.DENIED
    return _BY_CODE.get(error.code) or _BY_OUTCOME[error.outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What was called, as history keeps it.

    Attributes:
        arguments: sensitive values replaced.
        args_hash: over the real ones.
        key: the operation key; None for a read.
    """

    call_id: str
    tool: str
    arguments: dict[str, Any]
    args_hash: str
    key: str | None = None


def observed(state: LoopState, task: TaskType, called: Called, envelope: Envelope, *, seconds: float = 0.0) -> Observed:
    """A call that was answered for good."""
    evidence = _evidence(state, task, called, envelope) if envelope.ok else None
    done = kind_of(envelope) in (Kind.DONE, Kind.DONE_ELSEWHERE)
    record = attempt_record(state, called, envelope, Outcome.OK if done else Outcome.ERROR)
    told = Observation(
        step=state.step_count,
        call_id=called.call_id,
        code=code_of(envelope) or "ok",
        text=envelope.error.message if envelope.error else f"{called.tool} answered",
        evidence_id=None if evidence is None else evidence.id,
    )
    record = record.model_copy(update={"evidence_id": told.evidence_id})
    return Observed(record=record, observation=told, evidence=evidence, seconds=seconds)


def attempt_record(state: LoopState, called: Called, envelope: Envelope, outcome: Outcome) -> ToolRecord:
    """One attempt, under the request id of its own answer."""
    return ToolRecord(
        step_id=state.step_count,
        call_id=called.call_id,
        tool=called.tool,
        args_hash=called.args_hash,
        outcome=outcome,
        request_id=envelope.meta.request_id,
        idempotency_key=called.key,
        code=code_of(envelope),
        latency_ms=envelope.meta.elapsed_ms,
        summary=summary(called, envelope),
    )


def verified_by(state: LoopState, evidence: Evidence) -> tuple[Verified, ...]:
    """Executed actions that this read has found again, by an identifier of their result."""
    seen = frozenset(_leaves([evidence.arguments, evidence.payload]))
    return tuple(
        Verified(call_id=action.call_id)
        for action in state.outstanding
        if action.status is ActionStatus.EXECUTED and seen & _identifiers(state, action)
    )


def code_of(envelope: Envelope) -> str | None:
    """The error code as text."""
    return None if envelope.error is None else envelope.error.code.value


def summary(called: Called, envelope: Envelope) -> str:
    """One line for a person, and for a model that lost track."""
    shown = ", ".join(f"{name}={_short(value)}" for name, value in called.arguments.items())
    return f"{called.tool}({shown}): {code_of(envelope) or 'ok'}"


def _evidence(state: LoopState, task: TaskType, called: Called, envelope: Envelope) -> Evidence:
    meta = envelope.meta
    payload = without(envelope.data, task.private)
    name = task.refs.get(called.tool)
    return Evidence(
        id=f"ev-{len(state.evidence) + 1}",
        step=state.step_count,
        call_id=called.call_id,
        tool=called.tool,
        arguments=called.arguments,
        request_id=meta.request_id,
        operation_id=meta.operation_id,
        fetched_at=meta.fetched_at,
        source=meta.source,
        payload=payload,
        payload_hash=fingerprint(payload),
        ref=None if name is None else name(payload),
        truncated=meta.truncated,
        replayed=meta.replayed,
    )


def _identifiers(state: LoopState, action: Action) -> frozenset[str]:
    """Identifiers that came into being with the action: in its result and not in its arguments."""
    result = next((e.payload for e in state.evidence if e.id == action.evidence_id), None)
    if not isinstance(result, Mapping):
        return frozenset()
    born = {str(v) for name, v in result.items() if (name == "id" or name.endswith("_id")) and isinstance(v, str | int)}
    return frozenset(born) - frozenset(_leaves(action.arguments))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _leaves(member)
    elif isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        yield str(value)


def _short(value: Any, most: int = 40) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
