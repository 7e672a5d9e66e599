"""Schemas of 3.0 and 3.1 become JSON Schema 2020-12 that says the same."""

from typing import Any

import pytest

from gateway.manifest import schema_keywords
from gateway.manifest.arguments import ArgumentsSchema
from tests.gateway.manifest.openapi.shop import body, refusal


def member(schema: Any, **more: Any) -> Any:
    """The schema of a body's member `x`."""
    return body({"type": "object", "properties": {"x": schema}}, **more).arguments["properties"]["x"]


@pytest.mark.parametrize(
    ("schema", "becomes"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (
            {"nullable": True, "oneOf": [{"type": "string"}]},
            {"anyOf": [{"oneOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
        ({"nullable": True, "allOf": [{"type": "integer"}]}, {"type": ["integer", "null"]}),
        ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, {"type": "number", "exclusiveMinimum": 0}),
        ({"type": "number", "maximum": 9, "exclusiveMaximum": False}, {"type": "number", "maximum": 9}),
        ({"type": "number", "exclusiveMinimum": 0}, {"type": "number", "exclusiveMinimum": 0}),
        ({"type": "integer", "format": "int32"}, {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}),
        ({"type": "integer", "format": "int64", "maximum": 2**63 - 1}, {"type": "integer"}),
        ({"type": "string", "format": "uuid"}, {"type": "string", "format": "uuid"}),
        ({"type": "string", "format": "password", "example": "x", "xml": {}, "x-y": 1}, {"type": "string"}),
        ({"type": "string", "default": "a"}, {"type": "string"}),
        (True, {}),
        ({"type": "object", "additionalProperties": {"type": "string"}},) * 2,
        ({"anyOf": [{"const": 1}, {"not": {"type": "string"}}]},) * 2,
        ({"type": "array", "items": {"type": "string", "title": "T"}}, {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_a_schema_is_taken_over(schema: Any, becomes: Any) -> None:
    """`nullable`, exclusive bounds and hints become what 2020-12 asserts; notes to people go."""
    assert member(schema) == becomes


def test_what_only_answers_have_is_no_argument() -> None:
    """Read-only members go, and nobody has to send them; write-only ones stay."""
    schema = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": {"type": "string", "readOnly": True},
            "by": {"$ref": "#/components/schemas/By"},
            "name": {"type": "string", "writeOnly": True},
        },
    }
    understood = body(schema, components={"schemas": {"By": {"type": "string", "readOnly": True}}})

    assert understood.arguments == {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}},
    }


def test_recursion_is_kept_as_a_definition() -> None:
    """A tree is valid, and a wrong leaf deep in it is not."""
    node = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
        },
    }
    understood = body({"$ref": "#/components/schemas/Node"}, components={"schemas": {"Node": node}})
    schema = ArgumentsSchema(understood.arguments)

    assert schema.faults({"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}) == ()
    assert schema.faults({"name": "a", "children": [{"name": "b", "children": [{"name": 1}]}]})
    assert schema_keywords.faults(understood.arguments, arguments=True) == ()


def test_two_definitions_of_one_name_stay_two() -> None:
    """Names come from the end of a path, which need not be unique."""
    components = {
        "schemas": {"A": {"type": "object", "properties": {"x": {"type": "string"}}}},
        "x-more": {"A": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    }
    schema = {"oneOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/x-more/A"}]}

    assert set(body(schema, components=components).arguments["$defs"]) == {"A", "A_2"}


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"allOf": [{"$ref": "#/components/schemas/A"}]}},
        {
            "A": {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/B"}]},
            "B": {"not": {"$ref": "#/components/schemas/A"}},
        },
    ],
)
def test_a_schema_without_an_end_is_refused(schemas: Any) -> None:
    """It would apply itself to the same value for ever."""
    said = refusal(
        lambda: body({"type": "array", "items": {"$ref": "#/components/schemas/A"}}, components={"schemas": schemas})
    )

    assert "without an end" in said or "leads back to itself" in said


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "file"}, "`type: file` is no type"),
        ({"$dynamicRef": "#x"}, "`$dynamicRef` is not followed"),
        ({"oneOf": []}, "`oneOf` is a list of schemas"),
        ({"patternProperties": {"(?=a)": {}}}, "cannot be matched in linear time"),
        ({"properties": []}, "`properties` is a map"),
        ([], "a schema is an object"),
    ],
)
def test_what_means_something_else_is_refused(schema: Any, words: str) -> None:
    """Where leaving it out would change what is sent or accepted beyond a bound."""
    assert words in refusal(lambda: member(schema))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "pattern": "^(?!x)"}, "`pattern: ^(?!x)` cannot be asserted"),
        ({"type": "string", "minLength": "1"}, "`minLength: 1` cannot be asserted"),
        ({"type": "string", "minLenght": 1}, "`minLenght` is no keyword of JSON Schema"),
    ],
)
def test_what_cannot_be_asserted_is_noted(schema: Any, words: str) -> None:
    """The draft says where it lets more through than the document."""
    understood = body({"type": "object", "properties": {"x": schema}})

    assert [note.message for note in understood.notes] == [words]
    assert understood.arguments["properties"]["x"] == {"type": "string"}


def test_one_operation_is_bounded() -> None:
    """A document that needs thousands of schemas for one call is refused."""
    schema = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(5001)}}

    assert "more than 5000 schemas" in refusal(lambda: body(schema))


def test_a_chain_of_references_may_be_longer_than_a_stack() -> None:
    """Each is converted when its turn has come."""
    chain: dict[str, Any] = {
        f"S{number}": {"type": "object", "properties": {"x": {"$ref": f"#/components/schemas/S{number + 1}"}}}
        for number in range(2000)
    }
    chain["S2000"] = {"type": "string"}
    understood = body({"$ref": "#/components/schemas/S0"}, components={"schemas": chain})

    assert len(understood.arguments["$defs"]) == 2000


def test_parts_of_parts_that_multiply_are_not_joined() -> None:
    """Forty lines would stand for a million million members; the body stays one argument."""
    both: dict[str, Any] = {
        f"S{number}": {"allOf": [{"$ref": f"#/components/schemas/S{number + 1}"}] * 2} for number in range(40)
    }
    both["S40"] = {"type": "object", "properties": {"x": {"type": "string"}}}

    assert body({"$ref": "#/components/schemas/S0"}, components={"schemas": both}).request["body"] == "{args.body}"


def test_a_schema_that_is_nested_too_deep_is_refused() -> None:
    """In one sentence."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(400):
        schema = {"type": "array", "items": schema}

    assert "nested too deep" in refusal(lambda: body(schema))
