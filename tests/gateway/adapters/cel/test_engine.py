"""CEL behind its port: mistakes at load, errors as values."""

import resource
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.manifest.ports import CompileError, EvaluationError, Expression, Name, NameType

NAMES = {
    "args.n": Name(type=NameType.INTEGER),
    "args.s": Name(type=NameType.STRING, optional=True),
    "args.f": Name(type=NameType.ANY),
    "item": Name(),
    "key": Name(type=NameType.STRING),
    "baseline": Name(type=NameType.LIST),
    "caller.facts": Name(type=NameType.MAP),
    "caller.more": Name(type=NameType.MAP, optional=True),
}
VALUES: dict[str, Any] = {"args": {"n": 5, "f": 1.5}, "item": {"id": "a"}, "key": "k", "baseline": ["a"]}
VALUES["caller"] = {"facts": {"n": 5}}


def compiled(source: str, *, boolean: bool = True) -> Expression:
    """The expression; a mistake in it fails the test."""
    result = CelEngine().compile(source, NAMES, boolean=boolean)
    assert not isinstance(result, tuple), result
    return result


def refused(source: str, *, boolean: bool = True) -> tuple[CompileError, ...]:
    """The mistakes of a source that must not compile."""
    result = CelEngine().compile(source, NAMES, boolean=boolean)
    assert isinstance(result, tuple)
    return result


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("args.n == 5", True),
        ("args.f < 2", True),
        ("item.id in baseline", True),
        ("args.s == null", True),
        ("args.n <= caller.facts.n && 'n' in caller.facts", True),
        ("caller.more == null", True),
        ("caller.more == null || caller.more.n == 5", True),
        ("caller.facts.n == 5 && caller.facts['n'] == 5 && size(caller.facts) == 1", True),
        ("caller.facts.n == 5 || caller.facts.size == 5", True),
        ("caller.facts.all(it, caller.facts[it] == 5) && caller.facts.size() == 1", True),
        ("'caller.facts.n' != key && 'args.s' != key", True),
        ("args.s == 'x'", False),
        ("key == 'k' || item.nope == 1", True),
        ("!(item.id in baseline) && item.nope == 1", False),
        # Values of different types are unequal, and no error: the linter compiles against declared types for that.
        ("item.id == 1", False),
        ("timestamp('2026-01-01T00:00:00Z') < timestamp('2026-01-02T00:00:00Z')", True),
    ],
)
def test_conditions_have_their_values(source: str, value: object) -> None:
    """Optional arguments that were not given are null; a decided side absorbs an error of the other."""
    expression = compiled(source)

    assert expression.evaluate(VALUES) is value
    assert expression.source == source


@pytest.mark.parametrize(
    ("source", "value"), [("item.id", "a"), ("item", {"id": "a"}), ("baseline", ["a"]), ("1.5", 1.5), ("null", None)]
)
def test_values_are_plain(source: str, value: object) -> None:
    """What a baseline collects can be stored and compared."""
    assert compiled(source, boolean=False).evaluate(VALUES) == value


@pytest.mark.parametrize(
    ("source", "words", "line", "column"),
    [
        ("args.m == 5", "undeclared reference to 'args.m'", 1, 5),
        ("key == 'k' &&\n  nope", "undeclared reference to 'nope'", 2, 3),
        ("args.n == 'x'", "no matching overload", 1, 8),
        ("caller.facts == 5", "no matching overload", 1, 14),
        ("key ==", "Syntax error", 1, 7),
        ("key", "must be true or false", 1, 1),
        ("key == 'k' && has(args.s)", "write `args.x != null`", 1, 15),
    ],
)
def test_mistakes_are_found_at_load_with_their_place(source: str, words: str, line: int, column: int) -> None:
    """Misspelt fields, wrong types and non-boolean conditions never reach a call."""
    error = refused(source)[0]

    assert words in error.message
    assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("item.nope == 1", VALUES),
        ("item.id == 'a' && item.nope", VALUES),
        ("args.n * 9223372036854775807 > 0", VALUES),
        ("caller.facts.nope != 5", VALUES),
        ("caller.facts.n.nope != 5", VALUES),
        ("caller.more.n != 5", VALUES),
        ("args.n != 6", {**VALUES, "args": {}}),
        ("args.n != 6", {**VALUES, "args": None}),
        ("caller.facts.n != 6", {**VALUES, "caller": {"facts": ["n"]}}),
        ("caller.facts.n != 6", {**VALUES, "caller": {"facts": None}}),
        ("caller.facts.n != 6 && args.s == null", {}),
        ("item.n == 1", {**VALUES, "item": {"n": 2**70}}),
        ("item.s == 'x'", {**VALUES, "item": {"s": "\ud800"}}),
        ("item.id == 'a'", {**VALUES, "item": None}),
        ("item.id == 'a'", {}),
        ("item.flag", {**VALUES, "item": {"flag": "yes"}}),
        (
            "[1,2,3].all(a, [1,2,3].all(b, item.l.all(c, item.l.all(d, true))))",
            {**VALUES, "item": {"l": list(range(200))}},
        ),
    ],
)
def test_no_failure_is_ever_true_or_false(source: str, values: dict[str, Any]) -> None:
    """Missing members, overflow, half characters, non-boolean values and the step budget: all are errors."""
    assert isinstance(compiled(source).evaluate(values), EvaluationError)


@pytest.mark.parametrize(
    "values",
    [
        {"args": {"n": 5, "s": "\ud800", "f": 2**70}, "caller": {"facts": {"n": 5, "s": "\ud800"}}, "item": 2**70},
        {"args": {"n": 5}, "caller": {"facts": {"n": 5}}},
    ],
    ids=["no value", "nothing"],
)
def test_what_is_not_mentioned_is_not_looked_at(values: dict[str, Any]) -> None:
    """An expression is handed what it names: nothing else of the call costs it anything, or fails it."""
    assert compiled("args.n == 5 && caller.facts.n == 5").evaluate(values) is True


@pytest.mark.parametrize("length", [126, 127, 128, 300, 20_000])
def test_a_name_may_be_of_any_length(length: int) -> None:
    """What an expression mentions is found in its checked form, where lengths are written in groups of seven bits."""
    name = "a" * (length - len("args."))
    expression = CelEngine().compile(f"args.{name} == 1", {f"args.{name}": Name(), "args.a": Name()}, boolean=True)
    assert not isinstance(expression, tuple)

    assert expression.evaluate({"args": {name: 1}}) is True
    assert expression.evaluate({"args": {name: 2}}) is False


def test_a_map_that_cannot_be_written_is_read() -> None:
    """A map that is no dict has members like any other."""
    assert compiled("args.n == 5").evaluate(MappingProxyType({"args": MappingProxyType({"n": 5})})) is True


def test_a_value_that_json_does_not_have_is_an_error() -> None:
    """A timestamp cannot be stored as an identifier."""
    expression = compiled("timestamp('2026-01-01T00:00:00Z')", boolean=False)

    assert isinstance(expression.evaluate(VALUES), EvaluationError)


def test_every_mistake_of_an_expression_is_told() -> None:
    """An author mends an expression in one go."""
    assert len(refused("nope == 1 && neither == 2")) == 2


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the process table of Linux")
def test_what_evaluations_share_is_given_back() -> None:
    """Memory does not grow with what was evaluated: a hundred megabytes pass through one expression."""
    expression = compiled("item.s != key")
    assert expression.evaluate({"item": {"s": "x"}, "key": "k"}) is True
    before = resident_bytes()
    for _ in range(1_600):
        assert expression.evaluate({"item": {"s": "x" * 65_536}, "key": "k"}) is True

    assert resident_bytes() - before < 40 * 2**20


def resident_bytes() -> int:
    """What this process has in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
