"""Rules are compiled against what they may see, and say nothing that they may not."""

from typing import Any

import pytest

from gateway.contract.codes import ErrorCode, NextAction
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.placeholders import CallValues
from gateway.manifest.policies import Guards
from gateway.manifest.ports import EvaluationError
from tests.gateway.manifest.sample import KEYED, READ, compiled, complaints, errors

RULE: dict[str, Any] = {
    "code": "over_limit",
    "require": "args.amount <= caller.attributes.most",
    "message": "Too much.",
}
ASKS: dict[str, Any] = {"lookup": {"tool": "get_status", "arguments": {"order": "{args.order}"}}}
LOOKED: dict[str, Any] = {**RULE, **ASKS, "require": "lookup.data.status == 'open'"}


def found(*rules: dict[str, Any]) -> list[Complaint]:
    """What is said of these rules of a write, hints about other fields apart."""
    return [it for it in complaints(KEYED, {"rules": list(rules)}) if it.severity is not Severity.HINT]


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"require": "args.amout <= 5"}, "expression", "'args.amout'; did you mean `args.amount`?"),
        ({"require": "args.amount <= 'x'"}, "expression", "compare values of one type"),
        ({"require": "args.amount"}, "expression", "must be true or false"),
        ({"require": "args.amount <="}, "expression", "Syntax error"),
        ({"require": "has(args.note)"}, "expression", "write `args.x != null`"),
        ({"require": "args.note.size() < 5 && key == 'x'"}, "expression", "undeclared reference to 'key'"),
        ({"require": "caller.atributes.most > 5"}, "expression", "did you mean `caller.attributes`?"),
        ({"require": "caller.attributes + 1 == 2"}, "expression", "no matching overload"),
        ({"require": "run.id == 5"}, "expression", "no matching overload"),
        ({"require": "run.step == 'x'"}, "expression", "no matching overload"),
        ({"require": "caller.subject == 5"}, "expression", "no matching overload"),
        ({"require": "lookup.data.x == 1"}, "expression", "declare the `lookup` whose result this is"),
        ({"require": "1 < 2"}, "rule", "looks at nothing of the call"),
        ({**ASKS}, "no-effect", "`require` does not look at `lookup.data`"),
        ({"code": "timeout_unknown_outcome"}, "rule", "write `over_limit`, `not_owner` or a name of your own"),
        ({"code": "forbidden"}, "rule", "is the gateway's own word"),
        ({"message": "{lookup.data.x}"}, "rule", "text from a tool never enters a message"),
        ({"message": "{run.id}"}, "template", "use args, caller"),
        ({"message": "{key}"}, "template", "use args, caller"),
        ({"message": "{args.nope}"}, "template", "not a declared argument"),
        ({"message": "{args.note}"}, "template", "may be missing, and a text needs it"),
        ({"message": "{args.note}"}, "rule", "`note` is sensitive"),
        ({"message": "${API}"}, "rule", "callers read this"),
        ({"message": "${secret:TOKEN}"}, "rule", "callers read this"),
        ({"message": "{"}, "template", "a single brace"),
        ({**LOOKED, "lookup": {"tool": "get_status", "arguments": {"order": "{key}"}}}, "template", "no value here"),
        ({**LOOKED, "lookup": {"tool": "get_status", "arguments": {"order": ["{args.x}"]}}}, "template", "declared argument"),
        ({**LOOKED, "lookup": {"tool": "get_status", "arguments": {"order": "${API}"}}}, "template", "the backend"),
        ({**LOOKED, "lookup": {"tool": "get_status", "arguments": {"order": "{"}}}, "template", "a single brace"),
        ({**LOOKED, "lookup": {"tool": "get_status", "arguments": {"order": {"args.order": None}}}}, "template", "quote"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_meant_is_refused(changes: dict[str, Any], rule: str, words: str) -> None:
    """At load, with the way to mend it."""
    said = [(it.rule, it.message) for it in found({**RULE, **changes})]

    assert any(it == rule and words in message for it, message in said), said


def test_a_mistake_is_told_at_its_column() -> None:
    """Line and column of the file, not of the expression."""
    [complaint] = found(RULE, {**RULE, "require": "args.amount > 0 && nope"})
    text = '   "require": "args.amount > 0 && nope"'

    assert complaint.column == text.index("nope") + 1
    assert complaint.line > 1


@pytest.mark.parametrize(
    ("require", "values", "verdict"),
    [
        ("args.amount <= caller.attributes.most", {}, True),
        ("args.amount < caller.attributes.most", {}, False),
        ("args.note == null", {}, True),
        ("args.urgent || caller.subject == 'ana'", {"args": {"urgent": False}}, True),
        ("caller.tenant == 'acme' && 'most' in caller.attributes", {}, True),
        ("run.id == null && run.step == null", {"run": {"id": None, "step": None}}, True),
        ("run.id == 'r' && run.step < 9", {}, True),
        ("caller.attributes['most'] == 5", {}, True),
    ],
)
def test_a_rule_sees_arguments_caller_and_run(require: str, values: dict[str, Any], *, verdict: bool) -> None:
    """An argument that was not given is null."""
    given = {
        "args": {"order": "A", "amount": 5},
        "caller": {"subject": "ana", "tenant": "acme", "attributes": {"most": 5}},
        "run": {"id": "r", "step": 4},
    }
    [rule] = compiled(KEYED, {"rules": [{**RULE, "require": require}]}).rules

    assert rule.require.evaluate({**given, **values}) is verdict


@pytest.mark.parametrize(
    "require",
    ["args.amount <= caller.attributes.nope", "args.amount * 9223372036854775807 > 0", "caller.attributes.most"],
)
def test_what_has_no_value_is_no_verdict(require: str) -> None:
    """A missing attribute, an overflow, an answer that is neither true nor false."""
    [rule] = compiled(KEYED, {"rules": [{**RULE, "require": require}]}).rules
    caller = {"subject": "ana", "tenant": "acme", "attributes": {"most": 5}}

    verdict = rule.require.evaluate({"args": {"order": "A", "amount": 5}, "caller": caller, "run": {}})
    assert isinstance(verdict, EvaluationError)


def test_a_rule_keeps_what_the_manifest_says() -> None:
    """In order, with its own name, and the contract's code where it is one."""
    own = {**LOOKED, "code": "shop_is_open", "guards": "access", "next_action": "wait"}
    first, second = compiled(KEYED, {"rules": [RULE, own]}).rules

    assert (first.index, first.name, first.code, first.guards) == (
        0,
        "over_limit",
        ErrorCode.OVER_LIMIT,
        Guards.EXECUTION,
    )
    assert (first.lookup, first.next_action, first.attributes) == (None, None, ("most",))
    assert (second.index, second.name, second.code) == (1, "shop_is_open", ErrorCode.RULE_DENIED)
    assert (second.guards, second.next_action, second.attributes) == (Guards.ACCESS, NextAction.WAIT, ())
    assert second.lookup is not None
    assert second.lookup.arguments.render(CallValues(args={"order": "A"}, key="")) == {"order": "A"}


def test_every_rule_of_a_read_runs_before_it() -> None:
    """There is no record that an execution rule could stand behind, so `guards` would do nothing."""
    rule = {"code": "closed", "require": "args.order != 'A'", "message": "No."}

    assert compiled(READ, {"rules": [rule]}).rules[0].guards is Guards.ACCESS
    assert errors(READ, {"rules": [{**rule, "guards": "access"}]}) == ["no-effect"]


def test_the_cheap_rule_comes_first() -> None:
    """A hint, where one that asks nobody stands behind one that does."""
    said = complaints(KEYED, {"rules": [LOOKED, RULE]})
    apart = complaints(KEYED, {"rules": [{**LOOKED, "guards": "access"}, RULE]})

    assert [(it.severity, it.rule) for it in said if "put it first" in it.message] == [(Severity.HINT, "rule")]
    assert not [it for it in apart if "put it first" in it.message]


def test_other_rules_are_another_policy_and_no_other_operation() -> None:
    """What an approval is bound to changes with the rules; the key of an operation does not."""
    bare, ruled = compiled(KEYED), compiled(KEYED, {"rules": [RULE]})

    assert bare.policy_digest != ruled.policy_digest
    assert bare.identity_digest == ruled.identity_digest
