"""Raw argument strings, read strictly."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_client.arguments import Misfit, misfit, read_arguments, sensitive_names

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["a"],
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": ["string", "null"]},
        "c": {"x-sensitive": True},
        "d": {"type": "number"},
        "e": {"type": "array"},
        "f": {"type": "object"},
        "g": {"type": "boolean"},
    },
}


@given(st.text())
def test_L04_no_string_raises(raw: str) -> None:
    """Whatever a model writes is an object or a reason."""
    assert isinstance(read_arguments(raw), dict | Misfit)


def test_an_empty_string_is_no_arguments() -> None:
    """Some providers write nothing for a call without arguments."""
    assert read_arguments("") == {}


def test_types_are_compared_as_json_schema_does() -> None:
    """A whole float is an integer, a bool is no number, a list of types is any of them."""
    fits: list[dict[str, Any]] = [
        {"a": 1},
        {"a": 2.0},
        {"a": 1, "b": None},
        {"a": 1, "d": 1.5, "e": [], "f": {}, "g": True, "c": 5},
    ]
    wrong: list[dict[str, Any]] = [
        {"a": True},
        {"a": 1.5},
        {"a": "1"},
        {"a": 1, "b": 2},
        {"a": 1, "d": False},
        {"a": 1, "g": 0},
    ]

    assert [misfit(each, SCHEMA) for each in fits] == [None] * len(fits)
    assert [m.code for each in wrong if (m := misfit(each, SCHEMA))] == ["wrong_type"] * len(wrong)


def test_a_schema_that_takes_more_names_takes_them() -> None:
    """`additionalProperties: true` is the manifest's word."""
    assert misfit({"a": 1, "z": 1}, {**SCHEMA, "additionalProperties": True}) is None


def test_sensitive_arguments_are_those_the_manifest_marks() -> None:
    """And no others."""
    assert sensitive_names(SCHEMA) == {"c"}
