"""Normalised, defaulted, validated, in this order."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.manifest.arguments import ArgumentFault, ArgumentsSchema, FaultKind

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["order"],
    "properties": {
        "order": {"type": "string", "pattern": "^[A-Z]+$", "x-normalise": ["trim", "upper"]},
        "tags": {"type": "array", "items": {"type": "string", "x-normalise": ["lower"]}},
        "where": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "x-normalise": ["trim"]},
                "zone": {"type": "string", "default": " A "},
            },
        },
        "size": {"type": "string", "default": "  m ", "x-normalise": ["trim"]},
        "empty": {"type": "object", "additionalProperties": False},
        "way": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "integer", "minimum": 3, "multipleOf": 2}]},
    },
}
ARGUMENTS = ArgumentsSchema(SCHEMA)


def test_normalised_before_defaulted_before_matched() -> None:
    """The pattern sees the normalised text, defaults are normalised too, nested values included."""
    given_ = {"order": " ab ", "tags": ["X", 5], "where": {"city": " P "}}
    prepared = ARGUMENTS.prepare(given_)

    assert prepared == {"order": "AB", "tags": ["x", 5], "where": {"city": "P", "zone": " A "}, "size": "m"}
    assert given_ == {"order": " ab ", "tags": ["X", 5], "where": {"city": " P "}}
    assert ARGUMENTS.prepare(prepared) == prepared


def test_an_object_that_was_not_given_gets_no_members() -> None:
    """Defaults fill in what is inside something that is there."""
    assert "where" not in ARGUMENTS.prepare({"order": "A"})


def test_closed_unless_said_otherwise() -> None:
    """Extras are refused by default; a schema that opens itself is left open."""
    assert ARGUMENTS.faults({"order": "A", "force": True})[0].kind is FaultKind.UNKNOWN
    assert ARGUMENTS.published["additionalProperties"] is False
    open_ = ArgumentsSchema({**SCHEMA, "additionalProperties": True})
    assert open_.faults({"order": "A", "force": True}) == ()


@pytest.mark.parametrize(
    ("arguments", "kind", "path", "keyword", "names"),
    [
        ({}, FaultKind.MISSING, (), "required", ("order",)),
        ({"order": "A", "x": 1, "y": 2}, FaultKind.UNKNOWN, (), "additionalProperties", ("x", "y")),
        ({"order": 5}, FaultKind.WRONG_TYPE, ("order",), "type", ()),
        ({"order": "a1"}, FaultKind.INVALID, ("order",), "pattern", ()),
        ({"order": "A", "tags": ["x", 5]}, FaultKind.WRONG_TYPE, ("tags", 1), "type", ()),
    ],
)
def test_each_fault_has_its_kind_and_place(
    arguments: dict[str, Any], kind: FaultKind, path: tuple[Any, ...], keyword: str, names: tuple[str, ...]
) -> None:
    """What the message is built from: kind, path, keyword, names."""
    fault = ARGUMENTS.faults(arguments)[0]

    assert (fault.kind, fault.path, fault.keyword, fault.names) == (kind, path, keyword, names)


@pytest.mark.parametrize(
    ("arguments", "names", "declared"),
    [
        ({"order": "A", "x": 1}, ("x",), tuple(SCHEMA["properties"])),
        ({"order": "A", "empty": {"x": 1, "y": 2}}, ("x", "y"), ()),
    ],
)
def test_an_unknown_member_is_told_beside_those_that_are_declared(
    arguments: dict[str, Any], names: tuple[str, ...], declared: tuple[str, ...]
) -> None:
    """Also where none is declared, for which the validator has a word of its own."""
    fault = ARGUMENTS.faults(arguments)[0]

    assert (fault.kind, fault.names, fault.expected) == (FaultKind.UNKNOWN, names, declared)


def test_the_first_kind_is_told_first() -> None:
    """Missing before unknown before wrong type before the rest, whatever order the validator found them in."""
    kinds = [fault.kind for fault in ARGUMENTS.faults({"x": 1, "tags": 5, "size": "m", "way": 1})]

    assert kinds == [FaultKind.MISSING, FaultKind.UNKNOWN, FaultKind.WRONG_TYPE, FaultKind.INVALID]


def test_a_value_that_fits_no_alternative_is_told_by_the_nearest() -> None:
    """Of several alternatives, the one with the fewest faults explains what is wrong."""
    assert ARGUMENTS.faults({"order": "A", "way": "ab"})[0] == ArgumentFault(
        kind=FaultKind.INVALID, path=("way",), keyword="minLength", expected=3, value="ab"
    )


def test_booleans_are_no_integers_and_whole_floats_are() -> None:
    """JSON Schema's own idea of an integer."""
    schema = ArgumentsSchema({"type": "object", "properties": {"n": {"type": "integer"}}})

    assert schema.faults({"n": 1.0}) == ()
    assert schema.faults({"n": True})[0].kind is FaultKind.WRONG_TYPE


def test_certain_names_are_required_or_have_a_default() -> None:
    """What templates may rely on."""
    assert ARGUMENTS.certain == {"order", "size"}
    assert ARGUMENTS.names == ("order", "tags", "where", "size", "empty", "way")


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["order", "tags", "where", "size", "x"]), st.recursive(
    st.none() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["city", "zone"]), inner), max_leaves=5)))  # fmt: skip
def test_preparing_twice_changes_nothing(arguments: dict[str, Any]) -> None:
    """Whatever is given, the prepared form is a fixed point: a record's arguments can be prepared again."""
    once = ARGUMENTS.prepare(arguments)

    assert ARGUMENTS.prepare(once) == once


PLAIN = ArgumentsSchema(
    {
        "type": "object",
        "required": ["b", "a"],
        "properties": {
            "a": {"type": "string", "maxLength": 3, "x-normalise": ["trim"]},
            "b": {"type": "integer", "minimum": 1},
            "c": {"enum": ["x", "y"], "default": "x"},
        },
    }
)
NESTED = ArgumentsSchema(
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "object", "required": ["d"], "properties": {"d": {"type": "integer"}}}},
    }
)
OPEN = ArgumentsSchema(
    {"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}, "properties": {"a": {}}}
)


@settings(max_examples=300)
@given(
    schema=st.sampled_from((PLAIN, NESTED, OPEN)),
    arguments=st.dictionaries(
        st.sampled_from("abcdz"), st.sampled_from(("x", " y ", "long text", 0, 1, 1.5, None, True, {"d": 1}, {"e": 1}))
    ),
)
def test_what_is_told_is_what_the_validator_finds(schema: ArgumentsSchema, arguments: dict[str, Any]) -> None:
    """The short way to missing and unknown members of a plain object tells exactly what the long one would."""
    prepared = schema.prepare(arguments)
    every = schema.faults(prepared, given=arguments)

    assert schema.first_faults(prepared, given=arguments) == tuple(it for it in every if it.kind is every[0].kind)
    assert schema.first_faults(prepared) == tuple(it for it in schema.faults(prepared) if it.kind is every[0].kind)
