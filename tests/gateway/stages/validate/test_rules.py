"""Rules in their order: the first that does not say yes ends the call, and nothing that fails says yes."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode, NextAction
from gateway.manifest.policies import Guards
from gateway.manifest.tool import Tool
from gateway.stages.validate.rules import Asked, Facts, Known, Question, Unknowable, decide, known
from gateway.stages.validate.verdict import Asking, Denied
from tests.gateway.manifest.sample import KEYED, READ, REMOVED, changed, compiled

EVERY = frozenset(Guards)
CALLER = Caller(subject="ana", tenant="acme", attributes={"most": 5, "shop": "S1", "nothing": None})
LIMIT: dict[str, Any] = {
    "code": "over_limit",
    "require": "args.amount <= caller.attributes.most",
    "message": "{args.amount} is more than {caller.attributes.most}.",
}
FIVE = "[1,2,3,4,5]"
LONG = f"args.amount > 0 && {''.join(f'{FIVE}.all({name}, ' for name in 'abcdef')} a + b + c + d + e + f > 0{')' * 6}"
OWNER: dict[str, Any] = {
    "code": "not_owner",
    "guards": "access",
    "lookup": {"tool": "get_status", "arguments": {"order": "{args.order}"}},
    "require": "lookup.data.status == caller.attributes.shop",
    "message": "Order {args.order} is another's",
    "next_action": "stop",
}


LEAD: dict[str, Any] = {"approval": {"approvers": "things:approve"}}
ASKING = {**LIMIT, "otherwise": "approval"}


def ruled(*rules: Mapping[str, Any]) -> Tool:
    """A write under these rules, of which a lead may allow what a rule leaves to one."""
    return compiled(KEYED, {"rules": list(rules), **(LEAD if any("otherwise" in it for it in rules) else {})})


def facts(amount: int = 5, *, caller: Caller = CALLER, order: str = "A", **more: Any) -> Facts:
    """What a call brings."""
    return Facts(arguments={"order": order, "amount": amount, **more}, caller=caller, run_id="r", step=3)


def denied(tool: Tool, it: Facts, learnt: Mapping[Question, Known | Unknowable] | None = None) -> Denied:
    """The refusal; anything else fails the test."""
    verdict = decide(tool, EVERY, it, learnt or {})
    assert isinstance(verdict, Denied)
    return verdict


def question(tool: Tool) -> Question:
    """What the tool's rules ask first."""
    verdict = decide(tool, EVERY, facts(), {})
    assert isinstance(verdict, Asked)
    return verdict.question


def test_without_rules_everything_is_allowed() -> None:
    """Permission is enough."""
    assert decide(compiled(KEYED), EVERY, facts(), {}) is None


def test_a_rule_that_is_true_allows_and_one_that_is_not_denies() -> None:
    """With its code, its sentence and its place."""
    tool = ruled({**LIMIT, "code": "own_name", "require": "args.amount > 0", "next_action": "wait"}, LIMIT)

    assert decide(tool, EVERY, facts(5), {}) is None
    assert denied(tool, facts(6)) == Denied(
        code=ErrorCode.OVER_LIMIT,
        rule="6 is more than 5.",
        details={"rule": {"index": 1, "code": "over_limit"}},
    )


def test_the_first_that_fails_is_told() -> None:
    """In the order of the manifest, with a name of its own where it has one."""
    first = {**LIMIT, "code": "own_name", "next_action": "fix_arguments", "message": "No"}
    verdict = denied(ruled(first, LIMIT), facts(6))

    assert (verdict.code, verdict.rule, verdict.next_action) == (ErrorCode.RULE_DENIED, "No.", NextAction.FIX_ARGUMENTS)
    assert verdict.details == {"rule": {"index": 0, "code": "own_name"}}


def test_only_the_rules_of_the_moment_are_asked() -> None:
    """Before the record those of access, before an attempt those of execution."""
    tool = ruled({**LIMIT, "guards": "access", "code": "first_gate"}, LIMIT)

    for guards, index in ((Guards.ACCESS, 0), (Guards.EXECUTION, 1)):
        verdict = decide(tool, frozenset({guards}), facts(6), {})
        assert isinstance(verdict, Denied)
        assert verdict.details["rule"]["index"] == index
    assert decide(ruled(LIMIT), frozenset({Guards.ACCESS}), facts(6), {}) is None


def test_a_look_up_is_asked_for_and_used() -> None:
    """With the arguments of the call; equal questions are one question."""
    tool = ruled(OWNER, {**OWNER, "require": "lookup.data.status != 'closed'"})
    asked = decide(tool, EVERY, facts(), {})
    assert isinstance(asked, Asked)
    assert (asked.question.tool, asked.arguments) == ("get_status", {"order": "A"})

    assert decide(tool, EVERY, facts(), {asked.question: Known(data={"status": "S1"})}) is None
    verdict = denied(tool, facts(), {asked.question: Known(data={"status": "S2"})})
    assert (verdict.code, verdict.rule, verdict.next_action) == (
        ErrorCode.NOT_OWNER,
        "Order A is another's.",
        NextAction.STOP,
    )
    assert isinstance(decide(tool, EVERY, facts(order="B"), {asked.question: Known(data={})}), Asked)


def test_a_cheap_refusal_asks_nobody() -> None:
    """What stands before a look-up saves it."""
    assert denied(ruled(LIMIT, OWNER), facts(6)).code is ErrorCode.OVER_LIMIT


@pytest.mark.parametrize(("transient", "code"), [(True, ErrorCode.RULE_LOOKUP_FAILED), (False, ErrorCode.RULE_ERROR)])
def test_a_look_up_that_brought_nothing_denies(code: ErrorCode, *, transient: bool) -> None:
    """To be tried again only where that can help."""
    tool = ruled(OWNER)
    failed = Unknowable(code=ErrorCode.CIRCUIT_OPEN, transient=transient, retry_after_s=9.0)
    verdict = denied(tool, facts(), {question(tool): failed})

    assert (verdict.code, verdict.retry_after_s) == (code, 9.0 if transient else None)
    assert verdict.reason == "get_status answered circuit_open"
    assert verdict.details["lookup"] == {"tool": "get_status", "code": "circuit_open"}
    assert verdict.rule is None


@pytest.mark.parametrize(
    ("require", "it"),
    [
        ("args.amount <= caller.attributes.most", facts(caller=Caller(subject="ana", tenant="acme"))),
        ("args.amount <= caller.attributes.nothing", facts()),
        ("args.amount * 9223372036854775807 > 0", facts()),
        ("args.amount > 0", facts(2**70)),
        ("args.order != 'x'", facts(order="\ud800")),
        ("args.note.matches('^[a-z]+$')", facts()),
        ("caller.attributes.shop", facts()),
        (LONG, facts()),
    ],
    ids=["no attribute", "null", "overflow", "too large", "half a character", "not given", "no boolean", "too long"],
)  # fmt: skip
def test_what_cannot_be_evaluated_never_allows(require: str, it: Facts) -> None:
    """Missing values, overflow and the step budget are refusals with a code of their own."""
    assert denied(ruled({**LIMIT, "require": require}), it).code is ErrorCode.RULE_ERROR


def test_the_attribute_that_is_missing_is_named() -> None:
    """An operator sees what the key or token lacks; the engine's own words are not repeated."""
    verdict = denied(ruled(LIMIT), facts(caller=Caller(subject="ana", tenant="acme")))

    assert verdict.reason == "this caller has no attributes.most"
    assert verdict.details == {"rule": {"index": 0, "code": "over_limit"}, "missing": ["caller.attributes.most"]}
    assert verdict.rule is None


@pytest.mark.parametrize("hole", ["{caller.attributes.nope}", "{run.id}"])
def test_a_look_up_without_its_arguments_is_not_made(hole: str) -> None:
    """Left out silently it could ask for everybody's."""
    tool = ruled({**OWNER, "lookup": {"tool": "get_status", "arguments": {"order": hole}}})
    verdict = denied(tool, Facts(arguments={"order": "A", "amount": 1}, caller=CALLER, run_id=None, step=None))

    assert verdict.code is ErrorCode.RULE_ERROR
    assert verdict.reason == f"get_status cannot be asked, because this call has no {hole.strip('{}')}"


def test_a_question_that_cannot_be_written_is_not_asked() -> None:
    """A half character has no canonical form."""
    assert denied(ruled(OWNER), facts(order="\ud800")).code is ErrorCode.RULE_ERROR


@pytest.mark.parametrize(
    ("message", "it", "words"),
    [
        ("{args.order}", facts(order="x" * 90), "x" * 60 + "…."),
        ("{args.order}!", facts(order="a\nb\u202e"), "ab!"),
        ("{args.urgent} {{}}", facts(urgent=True), "true {}."),
        ("{caller.attributes.nope}?", facts(), "(not given)?"),
        ("{caller.attributes.nothing}", facts(), "(not given)."),
        ("{caller.subject} of {caller.tenant}", facts(), "ana of acme."),
    ],
)
def test_a_message_shows_little_of_each_value(message: str, it: Facts, words: str) -> None:
    """Short, printable, and one sentence."""
    assert denied(ruled({**LIMIT, "require": "args.amount > 5", "message": message}), it).rule == words


def test_a_declared_member_that_is_missing_is_null() -> None:
    """As an argument that was not given is; data of another shape is left as it is."""
    reader, open_ = compiled(READ), compiled(changed(READ, {"result": REMOVED}))

    assert known(reader, {"status": "x", "more": 1}).data == {
        "status": "x", "more": 1, "items": None, "complete": None,
    }  # fmt: skip
    assert known(reader, [1]).data == [1]
    assert known(open_, {"a": 1}).data == {"a": 1}


def test_a_rule_may_leave_it_to_a_person() -> None:
    """A clear no asks, with the rule's own sentence; a clear yes does not."""
    assert decide(ruled(ASKING), EVERY, facts(6), {}) == Asking(reasons=("6 is more than 5.",))
    assert decide(ruled(ASKING), EVERY, facts(5), {}) is None


def test_all_that_ask_are_asked_for_together() -> None:
    """In their order."""
    odd = {**ASKING, "code": "odd", "require": "args.order == 'Z'", "message": "Not Z"}
    assert decide(ruled(ASKING, odd), EVERY, facts(6), {}) == Asking(reasons=("6 is more than 5.", "Not Z."))


def test_a_refusal_behind_a_question_still_refuses() -> None:
    """Nobody is asked for what is forbidden anyway; and a look-up behind it is still asked."""
    never = {**LIMIT, "code": "never", "require": "args.amount < 6", "message": "Never."}
    assert denied(ruled(ASKING, never), facts(6)).rule == "Never."
    assert isinstance(decide(ruled(ASKING, OWNER), EVERY, facts(6), {}), Asked)


def test_a_rule_without_a_value_refuses_whatever_it_says_otherwise() -> None:
    """An error is no clear no."""
    assert denied(ruled(ASKING), facts(caller=Caller(subject="a", tenant="t"))).code is ErrorCode.RULE_ERROR
