"""Do the manifest's rules allow this call? In their order; the first that does not say yes ends it.

Nothing is asked here: `decide` names the look-up it needs, and is called again with the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.contract.call import Caller
from gateway.contract.canonical import NotCanonical, canonical
from gateway.contract.codes import ErrorCode
from gateway.contract.quick import quick
from gateway.manifest.placeholders import CallValues, Piece, Reference, RenderError
from gateway.manifest.policies import Guards, Otherwise
from gateway.manifest.ports import EvaluationError
from gateway.manifest.tool import Rule, RuleLookup, Tool
from gateway.stages.validate.verdict import Asking, Denied

MOST_OF_A_VALUE: Final = 60
"""Characters of one value in a message. An identifier fits; a letter does not."""
_NOT_THERE: Final = "(not given)"


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What rules are about. `arguments` are the accepted ones."""

    arguments: Mapping[str, Any]
    caller: Caller
    run_id: str | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Question:
    """A read that a rule needs. Two rules that ask the same have one question; `canonical` tells them apart."""

    tool: str
    canonical: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question to be put now, with its arguments as they are to be validated by the tool that is asked."""

    question: Question
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The validated raw result of a look-up."""

    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknowable:
    """A look-up that brought no result.

    Attributes:
        code: why, as the look-up's own envelope says it.
        transient: the same look-up may work later.
    """

    code: ErrorCode
    transient: bool
    retry_after_s: float | None = None


Learnt = Mapping[Question, Known | Unknowable]


def decide(tool: Tool, guards: frozenset[Guards], facts: Facts, learnt: Learnt) -> Denied | Asked | Asking | None:
    """None if every rule of these `guards` says yes; the first that refuses; or what must be asked to go on.

    Where none refuses, those that leave it to a person are asked for together.
    """
    reasons: list[str] = []
    values = call_values(facts)
    agreed = _agreed(tool, guards, values)
    for rule in tool.rules:
        if rule.guards not in guards or (rule.lookup is None and rule.guards in agreed):
            continue
        verdict = _judge(rule, facts, values, learnt)
        if isinstance(verdict, Asking):
            reasons += verdict.reasons
        elif verdict is not None:
            return verdict
    return Asking(reasons=tuple(reasons)) if reasons else None


def call_values(facts: Facts) -> dict[str, Any]:
    """What conditions see of a call."""
    caller = facts.caller
    return {
        "args": facts.arguments,
        "caller": {"subject": caller.subject, "tenant": caller.tenant, "attributes": dict(caller.attributes)},
        "run": {"id": facts.run_id, "step": facts.step},
    }


def known(tool: Tool, data: Any) -> Known:
    """A look-up's result as rules see it: a member that its schema declares and that is missing is null."""
    properties = {} if tool.result is None else tool.result.published.get("properties", {})
    if isinstance(data, dict) and isinstance(properties, Mapping):
        return Known(data={**dict.fromkeys(properties), **data})
    return Known(data=data)


def _agreed(tool: Tool, guards: frozenset[Guards], values: Mapping[str, Any]) -> list[Guards]:
    """The moments whose rules that ask nobody all say yes, which costs one question instead of one for each."""
    return [guard for guard, all_ in tool.rules_together.items() if guard in guards and all_.evaluate(values) is True]


def _judge(rule: Rule, facts: Facts, values: Mapping[str, Any], learnt: Learnt) -> Denied | Asked | Asking | None:
    if rule.lookup is not None:
        asked = _asked(rule, rule.lookup, facts)
        if isinstance(asked, Denied):
            return asked
        match learnt.get(asked.question):
            case None:
                return asked
            case Unknowable() as failed:
                return _unknowable(rule, rule.lookup, failed)
            case Known(data=data):
                values = {**values, "lookup": {"data": data}}
    verdict = rule.require.evaluate(values)
    if verdict is True:
        return None
    if isinstance(verdict, EvaluationError):
        return _undecided(rule, facts.caller)
    if rule.otherwise is Otherwise.APPROVAL:
        return Asking(reasons=(message(rule, facts),))
    return Denied(
        code=rule.code,
        rule=message(rule, facts),
        next_action=rule.next_action,
        details=_which(rule),
    )


def message(rule: Rule, facts: Facts) -> str:
    """The manifest's sentence for this call, ended with a full stop."""
    return sentence(rule.message, facts)


def sentence(pieces: Sequence[Piece], facts: Facts) -> str:
    """A manifest's sentence for this call, ended with a full stop."""
    values = CallValues(args=facts.arguments, key="", run_id=facts.run_id, caller=facts.caller)
    text = "".join(_shown(piece, values) if isinstance(piece, Reference) else str(piece) for piece in pieces)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _shown(reference: Reference, values: CallValues) -> str:
    try:
        value = reference.read(values)
    except RenderError:
        return _NOT_THERE
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        return _NOT_THERE
    text = "".join(letter for letter in str(value) if letter.isprintable())
    return text if len(text) <= MOST_OF_A_VALUE else f"{text[:MOST_OF_A_VALUE]}…"


def _asked(rule: Rule, lookup: RuleLookup, facts: Facts) -> Asked | Denied:
    values = CallValues(args=facts.arguments, key="", run_id=facts.run_id, caller=facts.caller)
    try:
        arguments = lookup.arguments.render(values)
        return Asked(question=Question(lookup.tool, canonical(arguments)), arguments=arguments)
    except RenderError as error:
        return Denied(
            code=ErrorCode.RULE_ERROR,
            reason=f"{lookup.tool} cannot be asked, because {error}",
            details=_which(rule),
        )
    except NotCanonical:
        return Denied(code=ErrorCode.RULE_ERROR, reason=f"{lookup.tool} cannot be asked", details=_which(rule))


def _unknowable(rule: Rule, lookup: RuleLookup, failed: Unknowable) -> Denied:
    # What will fail again the same way is no reason to wait.
    return Denied(
        code=ErrorCode.RULE_LOOKUP_FAILED if failed.transient else ErrorCode.RULE_ERROR,
        reason=f"{lookup.tool} answered {failed.code.value}",
        retry_after_s=failed.retry_after_s if failed.transient else None,
        details={**_which(rule), "lookup": {"tool": lookup.tool, "code": failed.code.value}},
    )


def _undecided(rule: Rule, caller: Caller) -> Denied:
    """The expression has no value. The engine's words are not repeated: they may hold what a tool wrote."""
    missing = missing_attributes(rule.attributes, caller)
    reason = f"this caller has no {', '.join(f'attributes.{name}' for name in missing)}" if missing else None
    details = (
        {**_which(rule), "missing": [f"caller.attributes.{name}" for name in missing]} if missing else _which(rule)
    )
    return Denied(code=ErrorCode.RULE_ERROR, reason=reason, details=details)


def missing_attributes(names: Sequence[str], caller: Caller) -> list[str]:
    """Those that a condition names and the caller does not have."""
    return [name for name in names if name not in caller.attributes]


def _which(rule: Rule) -> dict[str, Any]:
    return {"rule": {"index": rule.index, "code": rule.name}}
