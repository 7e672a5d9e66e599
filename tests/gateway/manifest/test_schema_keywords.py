"""What the validator would silently ignore is found."""

from typing import Any

import pytest

from gateway.manifest.schema_keywords import faults


def about(properties: dict[str, Any], **root: Any) -> dict[str, Any]:
    """A schema of an object with these properties."""
    return {"type": "object", "properties": properties, **root}


@pytest.mark.parametrize(
    ("schema", "path", "words"),
    [
        (about({"a": {"type": "string", "minLenght": 3}}), ("properties", "a", "minLenght"), "did you mean `minLength`"),
        (about({}, definitions={}), ("definitions",), "did you mean `$defs`"),
        (about({"a": {"x-normalize": ["trim"]}}), ("properties", "a", "x-normalize"), "did you mean `x-normalise`"),
        (about({"a": {"allOf": [{"foo": 1}]}}), ("properties", "a", "allOf", 0, "foo"), "remove it"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}, ("$schema",), "2020-12"),
        (about({"a": {"$ref": "https://x/y"}}), ("properties", "a", "$ref"), "own `$defs` only"),
        (about({"a": {"type": "strin"}}), ("properties", "a", "type"), "a type is string"),
        (about({"a": {}}, required="a"), ("required",), '"a" stands where a list, as [order_id], has to'),
        (about({"a": {"maxLength": "x"}}), ("properties", "a", "maxLength"), '"x" stands where a whole number has to'),
        (about({"a": {"pattern": "(?=x)"}}), ("properties", "a", "pattern"), "linear time"),
        (about({"a": {"format": "nope"}}), ("properties", "a", "format"), "no format"),
        (about({"a": {"$ref": "#/$defs/none"}}), (), "/$defs/none"),
        (about({"a": {"type": "integer", "minimum": 3, "default": 1}}), ("properties", "a", "default"), "not a valid value"),
        ({"type": "array"}, ("type",), "`type: object`"),
        ({}, (), "`type: object`"),
        (about({"a": {}}, required=["b"]), ("required", 0), "not declared"),
        (about({"a": {"default": 1}}, required=["a"]), ("properties", "a", "default"), "has a default and is required"),
        (about({"a": {"type": "string", "x-normalise": ["trum"]}}), ("properties", "a", "x-normalise", 0), "did you mean `trim`"),
        (about({"a": {"type": "string", "x-normalise": [{}]}}), ("properties", "a", "x-normalise", 0), "unknown normaliser"),
        (about({"a": {"type": "string", "x-normalise": "trim"}}), ("properties", "a", "x-normalise"), "is a list of"),
        (about({"a": {"type": "string", "x-normalise": ["upper", "lower"]}}), ("properties", "a", "x-normalise"), "undo"),
        (about({"a": {"type": "integer", "x-normalise": ["trim"]}}), ("properties", "a", "x-normalise"), "only a text"),
        (about({"a": {"anyOf": [{"type": "string", "x-normalise": ["trim"]}]}}),
         ("properties", "a", "anyOf", 0, "x-normalise"), "move it there"),
        (about({"a": {"anyOf": [{"default": 1}]}}), ("properties", "a", "anyOf", 0, "default"), "not here"),
        (about({"a": {"type": "array", "items": {"default": 1}}}), ("properties", "a", "items", "default"), "not here"),
        (about({"a": {"type": "object", "properties": {"b": {"x-sensitive": True}}}}),
         ("properties", "a", "properties", "b", "x-sensitive"), "whole argument"),
        (about({"a": {"x-immaterial": False}}), ("properties", "a", "x-immaterial"), "true or absent"),
        (about({}, required=[{}]), ("required", 0), "not declared"),
    ],
)  # fmt: skip
def test_each_mistake_is_found_at_its_path(schema: dict[str, Any], path: tuple[Any, ...], words: str) -> None:
    """The path leads to the line of the file, the words say how to mend it."""
    found = {fault.path: fault.message for fault in faults(schema, arguments=True)}

    assert words in found[path]


def test_a_mistake_is_told_once() -> None:
    """Though each vocabulary of the validator finds it."""
    assert [it.message for it in faults(about({"a": 5}), arguments=True)] == [
        "5 stands where true or false or a map has to"
    ]


def test_a_sound_schema_has_no_faults() -> None:
    """Every keyword of 2020-12, our own, and anybody's `x-` annotations."""
    schema = about(
        {
            "a": {
                "type": "string",
                "x-normalise": ["trim", "upper"],
                "x-sensitive": True,
                "x-immaterial": True,
                "x-owner": "me",
            },
            "b": {
                "type": "array",
                "items": {"type": "object", "properties": {"c": {"type": "string", "default": "x"}}},
            },
            "d": {"$ref": "#/$defs/d"},
            "e": True,
        },
        required=["a"],
        dependentRequired={"a": ["b"]},
        **{"$defs": {"d": {"enum": [1, 2]}}, "$schema": "https://json-schema.org/draft/2020-12/schema"},
    )

    assert faults(schema, arguments=True) == ()


def test_our_keywords_do_nothing_in_a_result() -> None:
    """A result is not normalised and not masked by its schema, so saying it is refused."""
    (fault,) = faults({"properties": {"a": {"x-sensitive": True}}}, arguments=False)

    assert fault.path == ("properties", "a", "x-sensitive")
    assert faults({"type": "array"}, arguments=False) == ()
