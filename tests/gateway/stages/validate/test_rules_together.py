"""Rules that are asked together answer as they do one by one: the same words, after the same reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import Guards
from gateway.manifest.ports import EvaluationError, Expression
from gateway.manifest.tool import Tool
from gateway.stages.validate.rules import Asked, Facts, Known, Question, Unknowable, decide
from gateway.stages.validate.verdict import Asking, Denied
from tests.gateway.manifest.sample import KEYED, READ, compiled

EVERY = frozenset(Guards)
TRUE, FALSE, ERROR = "args.amount > 0", "args.amount > 9", "args.amount > caller.attributes.nope"
NO_BOOLEAN, MISSING = "caller.attributes.shop", "args.note.startsWith('x')"
FIVE = "[1,2,3,4,5]"
LONG = f"{''.join(f'{FIVE}.all({name}, ' for name in 'abcd')} a + b + c + d + args.amount > 0{')' * 4}"
LOOKED_UP = "lookup.data.status == caller.attributes.shop"
CALLER = Caller(subject="ana", tenant="acme", attributes={"most": 5, "shop": "S1"})


def rule(require: str, *, code: str = "own_name", **more: Any) -> dict[str, Any]:
    """One rule; with `lookup.data` in it, one that asks."""
    asking = {"lookup": {"tool": "get_status", "arguments": {"order": "{args.order}"}}} if "lookup" in require else {}
    return {"code": code, "require": require, "message": f"Not {code}.", **asking, **more}


def ruled(*rules: Mapping[str, Any], tool: Mapping[str, Any] = KEYED) -> Tool:
    """A tool under these rules, of which a lead may allow what a rule leaves to one."""
    lead = {"approval": {"approvers": "things:approve"}} if any("otherwise" in it for it in rules) else {}
    return compiled(
        tool, {"rules": [{**it, "code": f"rule_{chr(97 + index % 26)}"} for index, it in enumerate(rules)], **lead}
    )


def facts(amount: int = 5, **more: Any) -> Facts:
    """What a call brings."""
    return Facts(arguments={"order": "A", "amount": amount, **more}, caller=CALLER, run_id="r", step=3)


Verdict = Denied | Asking | None


def course(tool: Tool, guards: frozenset[Guards], it: Facts, answer: Known | Unknowable) -> tuple[Verdict, list[Asked]]:
    """What comes of a call whose every look-up is answered with this, and what was asked on the way."""
    learnt: dict[Question, Known | Unknowable] = {}
    asked = []
    while isinstance(verdict := decide(tool, guards, it, learnt), Asked):
        asked.append(verdict)
        learnt[verdict.question] = answer
    return verdict, asked


def one_by_one(tool: Tool) -> Tool:
    """The same rules, never asked together."""
    return replace(tool, rules_together={})


@dataclass(slots=True)
class Counting:
    """An expression that counts how often it is asked."""

    expression: Expression
    asked: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        return self.expression.source

    def evaluate(self, values: Mapping[str, Any]) -> Any | EvaluationError:
        self.asked.append(self.source)
        return self.expression.evaluate(values)


def counted(tool: Tool) -> tuple[Tool, list[str]]:
    """The same tool, and the sources of what is evaluated in it, as they come."""
    asked: list[str] = []
    rules = tuple(replace(it, require=Counting(it.require, asked)) for it in tool.rules)
    together = {guards: Counting(it, asked) for guards, it in tool.rules_together.items()}
    return replace(tool, rules=rules, rules_together=together), asked


def test_rules_that_all_say_yes_are_one_question() -> None:
    """Three comparisons cost what one does; each is asked only where the answer to all is not yes."""
    tool, asked = counted(ruled(rule(TRUE), rule("args.order == 'A'"), rule("caller.tenant == 'acme'")))

    assert decide(tool, EVERY, facts(), {}) is None
    assert asked == ["(args.amount > 0\n) && (args.order == 'A'\n) && (caller.tenant == 'acme'\n)"]


def test_each_moment_has_its_own_question() -> None:
    """What is asked before the record is not asked again before an attempt, nor the other way round."""
    tool, asked = counted(ruled(*(rule(TRUE, guards=guards) for guards in Guards for _ in range(2))))

    for guards in Guards:
        assert decide(tool, frozenset({guards}), facts(), {}) is None
        assert asked.pop() == tool.rules_together[guards].source
        assert not asked


def test_the_yes_of_one_moment_is_not_that_of_another() -> None:
    """Where both are asked at once, as well."""
    tool = ruled(*(rule(TRUE, guards="access") for _ in range(2)), rule(TRUE), rule(FALSE))
    verdict = decide(tool, EVERY, facts(), {})

    assert isinstance(verdict, Denied)
    assert verdict.details["rule"]["index"] == 3


@pytest.mark.parametrize("rules", [[rule(TRUE)], [rule(TRUE), rule(LOOKED_UP)]], ids=["one", "one that asks nobody"])
def test_one_rule_is_asked_itself(rules: Sequence[Mapping[str, Any]]) -> None:
    """There is nothing to be spared."""
    assert not ruled(*rules).rules_together


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        ([TRUE, TRUE, TRUE], None),
        ([TRUE, FALSE, TRUE], (ErrorCode.RULE_DENIED, "Not own_name.", 1)),
        ([TRUE, ERROR, TRUE], (ErrorCode.RULE_ERROR, None, 1)),
        ([FALSE, ERROR, TRUE], (ErrorCode.RULE_DENIED, "Not own_name.", 0)),
        ([ERROR, FALSE, TRUE], (ErrorCode.RULE_ERROR, None, 0)),
        ([TRUE, NO_BOOLEAN], (ErrorCode.RULE_ERROR, None, 1)),
        ([NO_BOOLEAN, FALSE], (ErrorCode.RULE_ERROR, None, 0)),
        ([TRUE, MISSING], (ErrorCode.RULE_ERROR, None, 1)),
        (["args.note == null", "args.note == null || args.note == 'x'"], None),
        ([f"{TRUE} // is it?", f"{TRUE} || {FALSE}", FALSE], (ErrorCode.RULE_DENIED, "Not own_name.", 2)),
        ([f"{FALSE} || {TRUE}", f"{FALSE} || {TRUE}"], None),
    ],
)  # fmt: skip
def test_the_first_that_fails_is_told(rules: list[str], verdict: tuple[ErrorCode, str | None, int] | None) -> None:
    """With its code, its sentence and its place: an error as an error, a no as a no."""
    tool = ruled(*map(rule, rules))
    found = decide(tool, EVERY, facts(), {})

    assert found == decide(one_by_one(tool), EVERY, facts(), {})
    assert (None if found is None else (found.code, found.rule, found.details["rule"]["index"])) == verdict  # type: ignore[union-attr]


def test_only_a_yes_is_the_word_of_all() -> None:
    """Together they take more steps than one expression may, and each of them has enough: nothing is refused for that."""
    tool, asked = counted(ruled(*(rule(LONG.replace("> 0", f"> {-number}")) for number in range(16))))

    assert isinstance(tool.rules_together[Guards.EXECUTION].evaluate({"args": {"amount": 1}}), EvaluationError)
    asked.clear()
    assert decide(tool, EVERY, facts(), {}) is None
    assert asked[1:] == [it.require.source for it in tool.rules]


@pytest.mark.parametrize(("depth", "questions"), [(1, 1), (32, 2)])
def test_rules_that_do_not_compile_together_are_asked_one_by_one(depth: int, questions: int) -> None:
    """How deep one expression may nest bounds them together; beyond it each is still a rule."""
    tool, asked = counted(ruled(*[rule(f"{'(' * depth}{TRUE}{')' * depth}")] * 2))

    assert decide(tool, EVERY, facts(), {}) is None
    assert len(asked) == questions


def test_who_is_to_be_asked_is_told_by_each() -> None:
    """A rule that leaves it to a person says so itself, in its place; a refusal behind it still refuses."""
    asking = rule(FALSE, otherwise="approval")

    assert decide(ruled(rule(TRUE), asking, asking), EVERY, facts(), {}) == Asking(reasons=("Not own_name.",) * 2)
    assert decide(ruled(rule(TRUE), asking), EVERY, facts(10), {}) is None
    assert isinstance(decide(ruled(asking, rule(TRUE), rule(ERROR)), EVERY, facts(), {}), Denied)


def test_reads_are_asked_in_their_places() -> None:
    """A rule that would ask is not asked for by the others' yes, nor before one that refuses without it."""
    nobody = Known(data={"status": "S1"})
    for rules in ((TRUE, LOOKED_UP, TRUE), (LOOKED_UP, TRUE, TRUE), (TRUE, FALSE, LOOKED_UP), (LOOKED_UP, FALSE, TRUE)):
        tool = ruled(*map(rule, rules))
        verdict, asked = course(tool, EVERY, facts(), nobody)

        assert tool.rules_together
        assert (verdict, asked) == course(one_by_one(tool), EVERY, facts(), nobody)
        assert len(asked) == (0 if rules == (TRUE, FALSE, LOOKED_UP) else 1)
        assert (verdict is None) is (FALSE not in rules)


def test_the_rules_of_a_read_are_asked_together() -> None:
    """They all run before it."""
    tool, asked = counted(ruled(rule("args.order == 'A'"), rule("caller.tenant == 'acme'"), tool=READ))

    assert decide(tool, EVERY, Facts(arguments={"order": "A"}, caller=CALLER, run_id=None, step=None), {}) is None
    assert len(asked) == 1


REQUIRES = st.sampled_from(
    [TRUE, FALSE, ERROR, NO_BOOLEAN, MISSING, LONG, LOOKED_UP, "args.note != null", "args.urgent == true",
     "args.amount <= caller.attributes.most", "args.amount * 9223372036854775807 > 0", "run.id == 'r' // ours",
     f"{FALSE} || {TRUE}", f"{FALSE} || {ERROR}", "lookup.data.status != null", "'most' in caller.attributes"]
)  # fmt: skip
RULES = st.lists(
    st.tuples(REQUIRES, st.sampled_from([{}, {"guards": "access"}, {"otherwise": "approval"}])).map(
        lambda it: rule(it[0], **it[1])
    ),
    min_size=1,
    max_size=6,
)
CALLS = st.builds(
    lambda amount, more: facts(amount, **more),
    st.sampled_from([0, 1, 5, 10, 2**70]),
    st.fixed_dictionaries({}, optional={"note": st.sampled_from(["x", "y", "\ud800"]), "urgent": st.booleans()}),
)
ANSWERS = st.sampled_from(
    [Known(data={"status": "S1"}), Known(data={"status": "S2"}), Known(data={}), Known(data=[]),
     Unknowable(code=ErrorCode.CIRCUIT_OPEN, transient=True)]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(rules=RULES, it=CALLS, answer=ANSWERS, guards=st.sampled_from([EVERY, *(frozenset({it}) for it in Guards)]))
def test_together_is_as_one_by_one(
    rules: list[Mapping[str, Any]], it: Facts, answer: Known | Unknowable, guards: frozenset[Guards]
) -> None:
    """Whatever the rules, the call and the answers: the same verdict, after the same reads in the same order."""
    tool = ruled(*rules)

    assert course(tool, guards, it, answer) == course(one_by_one(tool), guards, it, answer)
