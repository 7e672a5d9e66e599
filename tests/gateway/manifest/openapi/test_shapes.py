"""What a value can be decides where in a request it can stand."""

from typing import Any

import pytest

from gateway.manifest.openapi.shapes import is_scalar, types_of, without_null


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"enum": ["a", 1, True, None]}, {"string", "number", "boolean", "null"}),
        ({"const": [1]}, {"array"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"oneOf": [{"type": "string"}, {}]}, None),
        ({"allOf": [{"maximum": 1}, {"type": "integer"}]}, {"integer"}),
        ({"$ref": "#/$defs/A"}, {"object"}),
        ({"$ref": "#/$defs/Loop"}, None),
        ({}, None),
    ],
)
def test_types_are_seen_through_what_is_around_them(schema: Any, types: set[str] | None) -> None:
    """Or None, where nothing is said."""
    definitions = {"A": {"type": "object"}, "Loop": {"$ref": "#/$defs/Loop"}}

    assert types_of(schema, definitions) == types


def test_null_is_taken_from_where_it_cannot_be_written() -> None:
    """In 3.0's way, in 3.1's, and in that of model libraries."""
    assert without_null({"type": ["string", "null"], "enum": ["a", None]}) == {"type": "string", "enum": ["a"]}
    assert without_null({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "description": "N."}) == {
        "type": "integer",
        "minimum": 1,
        "description": "N.",
    }
    assert not is_scalar({"type": ["string", "null"]}, {})
