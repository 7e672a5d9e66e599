"""The `approval` section is compiled against what it may see, and every field of it counts."""

from typing import Any, Final

import pytest

from gateway.manifest.complaint import Severity
from gateway.manifest.policies import Otherwise, Repeat
from gateway.manifest.ports import EvaluationError
from tests.gateway.manifest.sample import KEYED, compiled, complaints

SECTION: Final[dict[str, Any]] = {
    "when": "args.amount > caller.attributes.most",
    "reason": "{args.amount} of {caller.subject} needs a lead",
    "approvers": "things:approve",
    "limit": "args.amount <= approver.attributes.top",
    "expires_after": "90s",
}


def said(**changes: Any) -> list[tuple[str, str]]:
    """Errors about the section with these changes."""
    section = {name: value for name, value in {**SECTION, **changes}.items() if value is not None}
    found = complaints(KEYED, {"approval": section})
    return [(it.rule, it.message) for it in found if it.severity is Severity.ERROR]


def test_every_field_is_compiled() -> None:
    """Condition, sentence, permission, limit and time."""
    terms = compiled(KEYED, {"approval": SECTION}).approval
    assert terms is not None
    assert terms.when is not None
    assert terms.when is not True
    caller = {"subject": "ana", "tenant": "acme", "attributes": {"most": 5}}
    assert terms.when.evaluate({"args": {"amount": 6}, "caller": caller, "run": {"id": None, "step": None}}) is True
    assert terms.when.evaluate({"args": {"amount": 5}, "caller": caller, "run": {"id": None, "step": None}}) is False
    assert terms.limit is not None
    approver = {"subject": "lea", "tenant": "acme", "attributes": {"top": 9}}
    assert terms.limit.evaluate({"args": {"amount": 9}, "approver": approver}) is True
    assert terms.limit.evaluate({"args": {"amount": 10}, "approver": approver}) is False
    nothing = {"args": {"amount": 1}, "approver": {**approver, "attributes": {}}}
    assert isinstance(terms.limit.evaluate(nothing), EvaluationError)
    assert (terms.approvers, terms.expires_after_s) == ("things:approve", 90.0)
    assert (terms.when_attributes, terms.attributes) == (("most",), ("top",))
    assert terms.reason[1::2] == (" of ", " needs a lead")


def test_what_is_left_out_has_its_default() -> None:
    """Always, without a limit, for two hours."""
    terms = compiled(KEYED, {"approval": {"when": True, "reason": "Why.", "approvers": "things:approve"}}).approval
    assert terms is not None
    assert (terms.when, terms.limit, terms.attributes, terms.expires_after_s) == (True, None, (), 7200.0)
    assert compiled(KEYED).approval is None


def test_a_section_without_when_serves_rules_and_repetitions() -> None:
    """Which say themselves why they ask."""
    rule = {"code": "big", "require": "args.amount < 5", "message": "Too big.", "otherwise": "approval"}
    changes: dict[str, Any] = {"approval": {"approvers": "things:approve"}, "rules": [rule]}
    tool = compiled(KEYED, changes)
    assert tool.approval is not None
    assert (tool.approval.when, tool.rules[0].otherwise) == (None, Otherwise.APPROVAL)
    repeats = compiled(KEYED, {"approval": {"approvers": "things:approve"}, "identity.repeat": "approval"})
    assert repeats.identity.repeat is Repeat.APPROVAL
    assert compiled(KEYED, {"rules": [{**rule, "otherwise": "refuse"}]}).rules[0].otherwise is Otherwise.REFUSE


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"when": "args.amout > 5"}, "expression", "'args.amout'; did you mean `args.amount`?"),
        ({"when": "args.amount"}, "expression", "must be true or false"),
        ({"when": "lookup.data.x == 1"}, "expression", "declare the `lookup`"),
        ({"when": "approver.subject == 'x'"}, "expression", "undeclared reference"),
        ({"when": "1 < 2"}, "approval", "write `when: true`"),
        ({"when": False}, "shape", ""),
        ({"when": 5}, "shape", ""),
        ({"limit": "args.amount <= caller.attributes.most"}, "expression", "undeclared reference"),
        ({"limit": "args.amount <= approver.atributes.top"}, "expression", "did you mean `approver.attributes`?"),
        ({"limit": "args.amount < 5"}, "approval", "looks at nothing of the approver"),
        ({"limit": "approver.attributes"}, "expression", "must be true or false"),
        ({"reason": "{args.nope}"}, "template", "not a declared argument"),
        ({"reason": "{args.note}"}, "rule", "`note` is sensitive"),
        ({"reason": "${API}"}, "rule", "callers read this"),
        ({"approvers": "two words"}, "shape", ""),
        ({"expires_after": "0s"}, "shape", "longer than nothing"),
        ({"expires_after": "7200"}, "shape", ""),
        ({"expire_after": "2h"}, "unknown-key", "`expires_after`"),
    ],
)
def test_a_section_that_cannot_be_meant_is_refused(changes: dict[str, Any], rule: str, words: str) -> None:
    """At load, with the way to mend it."""
    found = said(**changes)
    assert any(it == rule and words in message for it, message in found), found


def test_approvers_must_be_named() -> None:
    """There is no default for who may say yes."""
    assert any("approvers" in message for _, message in said(approvers=None))


def test_a_mistake_is_told_at_its_place() -> None:
    """Line and column of the file."""
    section = {**SECTION, "limit": "args.amount <= approver.attributes.top && nope"}
    [complaint] = [it for it in complaints(KEYED, {"approval": section}) if it.severity is Severity.ERROR]
    text = '  "limit": "args.amount <= approver.attributes.top && nope"'
    assert complaint.column == text.index("nope") + 1


def test_what_it_says_is_part_of_the_policy_that_an_approval_is_bound_to() -> None:
    """A changed section voids what was approved under the old one; a changed title does not."""
    before = compiled(KEYED, {"approval": SECTION})
    assert compiled(KEYED, {"approval": {**SECTION, "expires_after": "91s"}}).policy_digest != before.policy_digest
    assert compiled(KEYED, {"approval": SECTION, "title": "Other"}).policy_digest == before.policy_digest
