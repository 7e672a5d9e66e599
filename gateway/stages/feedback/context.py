"""What an observation may draw on: validated arguments and words of the gateway's own. Nothing from a tool's answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.contract.codes import NextAction
from gateway.contract.quick import quick
from gateway.manifest.arguments import ArgumentFault
from gateway.manifest.policies import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A call that the caller may make next.

    Attributes:
        arguments: rendered from validated arguments, by `reconcile.lookup` of the manifest.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """The open operation that holds what this call wants to act on.

    Attributes:
        hold: the manifest's name for what is held (`order`).
        value: its value in this call.
        verify: the look-up of the blocking tool; None when it has none.
    """

    tool: str
    operation_id: str
    hold: str
    value: Any
    verify: Suggestion | None = None


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known around one error. Everything is optional: a sentence says what it knows.

    Attributes:
        tool: the tool called. With `unknown_tool`, the name that was given.
        arguments: validated, normalised and defaulted; empty before that.
        shown: names of arguments that a sentence may show, the material ones. None: all that are not sensitive.
        sensitive: names of arguments whose values never appear, wherever they would come from.
        dependency: `breaker.scope` of the manifest; for a process without one, its program's name.
        keyed: the downstream honours a key, so that the gateway may repeat an unknown under it.
        verify: the declared look-up, rendered for this call.
        owner: who settles what nobody can look up, `unknown.owner` of the manifest; `runbook` says how.
        status: HTTP status of the downstream.
        waited_s: how long an answer was awaited.
        retry_after_s: when to come back. None: the table's number.
        deadline_s: what the caller gave; `needed_s` what the tool needs.
        limit: what was exceeded, in words: `65,536 bytes`, `50 calls in 1 s`, `20 calls at a time`.
        faults: of the arguments, all of the kind that is told.
        tools: tools the caller may use. None: not known.
        permission: what the tool requires.
        rule: the sentence of the manifest's rule that refused, rendered; `next_action` what it advises, if it does.
        reason: why, in the gateway's own words, without a full stop.
        header: name of the request header at fault.
        approval_id: the approval that is asked for, named or decided; `approvers` is what whoever decides must hold.
        lapses_at: RFC 3339, until when it may be decided and used.
        operation_id: the operation that stands in the way or that is meant.
        differing: names of the arguments that differ from that operation's.
        state: how that operation stands, as `operation/record.py` names it.
        settled_at: RFC 3339, when its outcome was known. That is when it was done only where `settled_by` is `attempt`
            or `late_answer`: a look-up or an operator may come much later.
        failures: of the last `calls` calls to the dependency; `last_code` of the last of them.
        down_s: for how long the dependency has been failing.
        word: why an operator keeps calls from the dependency, in the operator's words.
    """

    tool: str | None = None
    effect: Effect | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shown: tuple[str, ...] | None = None
    sensitive: frozenset[str] = frozenset()
    dependency: str | None = None
    keyed: bool = False
    verify: Suggestion | None = None
    owner: str | None = None
    runbook: str | None = None
    status: int | None = None
    attempts: int = 0
    waited_s: float | None = None
    retry_after_s: float | None = None
    deadline_s: float | None = None
    needed_s: float | None = None
    limit: str | None = None
    faults: tuple[ArgumentFault, ...] = ()
    tools: tuple[str, ...] | None = None
    permission: str | None = None
    rule: str | None = None
    next_action: NextAction | None = None
    reason: str | None = None
    header: str | None = None
    approval_id: str | None = None
    approvers: str | None = None
    lapses_at: str | None = None
    operation_id: str | None = None
    differing: tuple[str, ...] = ()
    state: str | None = None
    settled_at: str | None = None
    settled_by: str | None = None
    blocker: Blocker | None = None
    failures: int | None = None
    calls: int | None = None
    last_code: str | None = None
    down_s: float | None = None
    word: str | None = None
