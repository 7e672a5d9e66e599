"""A look-up singles out this operation, and its silence proves something only if it was whole."""

from typing import Any

import pytest

from gateway.manifest.policies import Effect
from gateway.manifest.ports import EvaluationError
from gateway.manifest.tool import Reconcile
from tests.gateway.manifest.sample import KEYED, PLAIN, REMOVED, compiled, complaints, errors

LOOKUP = "reconcile.lookup"


def found(changes: dict[str, Any]) -> list[tuple[str, str]]:
    """Rule and message of every error."""
    return [(it.rule, it.message) for it in complaints(KEYED, changes) if it.severity == "error"]


def test_times_and_counts_are_those_of_the_manifest() -> None:
    """None of them is the usual one."""
    times = {"inline": "3s", "replay_for": "70s", "provider_max": "90s"}
    changes = {f"reconcile.{name}": value for name, value in times.items()}
    settled = compiled(KEYED, {**changes, f"{LOOKUP}.confirm": 3, f"{LOOKUP}.confirm_every": "4s"}).reconcile
    lookup = settled.lookup

    assert (settled.inline_s, settled.replay_for_s, settled.provider_max_s) == (3.0, 70.0, 90.0)
    assert lookup is not None
    # total 20 s + grace 10 s + provider_max.
    assert (lookup.confirm, lookup.confirm_every_s, lookup.settle_after_s) == (3, 4.0, 120.0)


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        (
            {f"{LOOKUP}.match": "item.n == args.amount", f"{LOOKUP}.baseline": REMOVED},
            "lookup",
            "accepts an item of yesterday",
        ),
        ({f"{LOOKUP}.baseline": REMOVED}, "lookup", "none is declared"),
        ({f"{LOOKUP}.match": "item.key == key"}, "lookup", "`baseline` does nothing"),
        ({f"{LOOKUP}.complete_when": REMOVED}, "lookup", "proves nothing by its silence"),
        ({f"{LOOKUP}.items": REMOVED}, "no-effect", "`complete_when` is about a list"),
        (
            {f"{LOOKUP}.match": "item.key == kee && !(item.id in baseline)"},
            "expression",
            "undeclared reference to 'kee'",
        ),
        (
            {f"{LOOKUP}.match": "item.key == key && args.amout == 1"},
            "expression",
            "undeclared reference to 'args.amout'",
        ),
        (
            {f"{LOOKUP}.match": "item.key == key && args.amount == 'x' && !(item.id in baseline)"},
            "expression",
            "no matching overload",
        ),
        ({f"{LOOKUP}.match": "key"}, "expression", "must be true or false"),
        ({f"{LOOKUP}.complete_when": "data.complete &&"}, "expression", "Syntax error"),
        ({f"{LOOKUP}.complete_when": "item.x"}, "expression", "undeclared reference to 'item"),
        ({f"{LOOKUP}.baseline": "key"}, "expression", "undeclared reference to 'key'"),
        ({f"{LOOKUP}.arguments": {"order": "{run.id}"}}, "template", "has no value here"),
        ({f"{LOOKUP}.arguments": {"order": "{caller.subject}"}}, "template", "has no value here"),
        ({f"{LOOKUP}.arguments": {"order": ["{args.nope}"]}}, "template", "not a declared argument"),
        ({f"{LOOKUP}.arguments": {"order": "{"}}, "template", "a single brace"),
    ],
)
def test_a_lookup_that_proves_nothing_is_refused(changes: dict[str, Any], rule: str, words: str) -> None:
    """What is wrong with it, and what to write instead."""
    assert any(it == rule and words in message for it, message in found(changes)), found(changes)


def test_an_expression_is_complained_about_at_its_column() -> None:
    """Line and column of the file, not of the expression."""
    (complaint,) = [
        it for it in complaints(KEYED, {f"{LOOKUP}.complete_when": "data.complete && nope"}) if it.rule == "expression"
    ]
    text = '   "complete_when": "data.complete && nope"'

    assert complaint.column == text.index("nope") + 1


def test_a_lookup_by_key_needs_neither_list_nor_comparison() -> None:
    """Asked by the key, whatever comes back is ours; there is no list to be cut, and nothing to hint at."""
    by_key = {
        f"{LOOKUP}.arguments": {"order": "{key}"},
        f"{LOOKUP}.items": REMOVED,
        f"{LOOKUP}.baseline": REMOVED,
        f"{LOOKUP}.complete_when": REMOVED,
        f"{LOOKUP}.match": "item.status == 'done'",
    }

    assert complaints(KEYED, by_key) == []
    lookup = compiled(KEYED, by_key).reconcile.lookup
    assert lookup is not None
    assert lookup.items is None
    assert lookup.match.evaluate({"item": {"status": "done"}}) is True
    assert "lookup-by-key" in [it.rule for it in complaints(KEYED)]


NEW = "!(item.id in baseline) && item.n == args.amount"


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({}, False),
        ({"identity.scope": "run"}, True),
        ({"identity.scope": "subject"}, True),
        ({"identity.scope": "run", "holds": {"order": "order"}}, False),
        ({"identity.scope": "run", f"{LOOKUP}.match": f"item.key == key || {NEW}"}, False),
        ({"identity.scope": "run", f"{LOOKUP}.arguments": {"order": "{args.order}", "kind": "{key}"}}, False),
        ({"identity.fields": ["order", "amount"]}, False),
        ({"identity.fields": ["order", "line"]}, True),
        ({"identity.fields": ["order", "line"], f"{LOOKUP}.match": f"{NEW} && item.key == args.line"}, False),
        (
            {
                "identity.fields": ["order", "line"],
                f"{LOOKUP}.arguments": {"order": "{args.order}", "kind": "k-{args.line}"},
            },
            False,
        ),
        ({"identity.fields": "all", "identity.window": "24h"}, True),
        (
            {
                "identity.fields": "all",
                "identity.window": "24h",
                f"{LOOKUP}.match": f"{NEW} && item.key == args.line",
                "arguments.properties.urgent.x-immaterial": True,
            },
            False,
        ),
    ],
)
def test_two_calls_in_doubt_are_kept_apart(changes: dict[str, Any], *, refused: bool) -> None:
    """Without the key or a hold, an item must be compared in everything that makes two operations different."""
    line = {
        "arguments.required": ["order", "amount", "line"],
        "arguments.properties.line": {"type": "string", "x-normalise": ["trim"]},
    }
    complained = [words for rule, words in found({f"{LOOKUP}.match": NEW, **line, **changes}) if rule == "lookup"]
    assert any("two calls in doubt" in words for words in complained) is refused
    assert len(complained) == refused


def test_an_answer_that_cannot_be_compared_is_neither_yes_nor_no() -> None:
    """A missing member is an error, which proves nothing."""
    lookup = compiled(KEYED).reconcile.lookup
    assert lookup is not None
    values = {"key": "k", "baseline": ["a"], "args": {"order": "A", "amount": 5}}

    assert lookup.match.evaluate({"item": {"key": "k"}, **values}) is True
    assert lookup.match.evaluate({"item": {"key": "z", "id": "b", "n": 5}, **values}) is True
    assert lookup.match.evaluate({"item": {"key": "z", "id": "a", "n": 5}, **values}) is False
    assert isinstance(lookup.match.evaluate({"item": {"id": "b", "n": 4}, **values}), EvaluationError)


def test_claiming_that_every_list_is_whole_is_a_warning() -> None:
    """`complete_when: true` loads, and somebody has to have meant it."""
    found_ = [(it.rule, it.severity) for it in complaints(KEYED, {f"{LOOKUP}.complete_when": "true"})]

    assert ("lookup", "warning") in found_


def test_a_negative_counts_after_total_grace_and_provider_max() -> None:
    """The wait before silence proves anything is the sum of what may still be under way."""
    lookup = compiled(KEYED).reconcile.lookup
    assert lookup is not None

    assert lookup.settle_after_s == 20 + 10 + 60


def test_without_the_section_the_defaults_hold() -> None:
    """Keyed tools without it still have bounds for their replays."""
    assert compiled(PLAIN).reconcile == Reconcile()
    assert compiled(KEYED, {"reconcile": REMOVED}).reconcile == Reconcile()
    assert compiled(KEYED, {"reconcile": REMOVED, "effect": "idempotent"}).effect is Effect.IDEMPOTENT


def test_expressions_may_use_optional_arguments() -> None:
    """An argument that was not given is null, not an error."""
    match = "item.key == key || !(item.id in baseline) && args.note == null"
    lookup = compiled(KEYED, {f"{LOOKUP}.match": match}).reconcile.lookup
    assert lookup is not None

    assert lookup.match.evaluate({"item": {"key": "z", "id": 1}, "key": "k", "baseline": [], "args": {}}) is True
    assert errors(KEYED, {f"{LOOKUP}.match": f"{match} && has(args.note)"}) == ["expression"]
