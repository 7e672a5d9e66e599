from typing import Any

import pytest

from gateway.fronts.http.strict_schema import strict_schema


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def test_what_can_be_enforced_stays_and_the_rest_is_said() -> None:
    """Types and choices stay; bounds go into the description, where a model reads them."""
    schema = closed(
        order={"type": "string", "pattern": "^ORD-[0-9]+$", "description": "The order's number."},
        paise={"type": "integer", "minimum": 1, "maximum": 5},
        kind={"enum": ["full", "part"], "type": "string", "title": "Kind", "default": "full"},
        fixed={"type": "string", "const": "x"},
    )

    assert strict_schema(schema) == closed(
        order={"type": "string", "description": 'The order\'s number. (pattern: "^ORD-[0-9]+$")'},
        paise={"type": "integer", "description": "minimum: 1, maximum: 5"},
        kind={"enum": ["full", "part"], "type": "string"},
        fixed={"type": "string", "enum": ["x"]},
    )


def test_structures_are_followed() -> None:
    """Objects in lists, alternatives, and null as one of several types."""
    line = closed(sku={"type": "string"}, note={"type": ["string", "null"]})
    schema = closed(lines={"type": "array", "items": line, "minItems": 1}, who={"anyOf": [{"type": "string"}, line]})

    assert strict_schema(schema) == closed(
        lines={"description": "minItems: 1", "type": "array", "items": line},
        who={"anyOf": [{"type": "string"}, line]},
    )


def test_a_tool_without_arguments_is_strict() -> None:
    """It takes nothing, and that can be enforced."""
    assert strict_schema({"type": "object", "additionalProperties": False}) == closed()


NOT_STRICT: dict[str, Any] = {
    "an optional argument": {**closed(a={"type": "string"}, b={"type": "string"}), "required": ["a"]},
    "others allowed": {**closed(a={"type": "string"}), "additionalProperties": True},
    "others by schema": {**closed(a={"type": "string"}), "additionalProperties": {"type": "string"}},
    "no type": closed(a={}),
    "any list": closed(a={"type": "array"}),
    "an open object below": closed(a={"type": "object"}),
    "an object or null": closed(a={"type": ["object", "null"]}),
    "all of": closed(a={"allOf": [{"type": "string"}]}),
    "one of": closed(a={"oneOf": [{"type": "string"}]}),
    "a reference": {**closed(a={"$ref": "#/$defs/a"}), "$defs": {"a": {"type": "string"}}},
    "alternatives beside a type": closed(a={"type": "string", "anyOf": [{"type": "string"}]}),
    "alternatives at the root": {"anyOf": [closed()]},
    "no object": {"type": "string"},
    "too deep": closed(a=closed(a=closed(a=closed(a=closed(a=closed()))))),
    "too many": closed(**{f"a{number}": {"type": "string"} for number in range(101)}),
    "anything": closed(a=True),
}


@pytest.mark.parametrize("schema", NOT_STRICT.values(), ids=NOT_STRICT)
def test_what_has_no_equivalent_is_not_bent_into_one(schema: dict[str, Any]) -> None:
    """None, rather than a schema under which a model writes what the gateway refuses."""
    assert strict_schema(schema) is None
