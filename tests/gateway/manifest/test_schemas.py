"""Schemas are compiled with settings that mean what they say."""

from typing import Any

import pytest

from gateway.manifest.schemas import SchemaError, compile_schema, shape_faults


def test_formats_are_asserted() -> None:
    """`format` is no decoration."""
    validator = compile_schema({"type": "string", "format": "date"})

    assert validator.is_valid("2026-01-01")
    assert not validator.is_valid("yesterday")


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"properties": {"a": {"pattern": "(?=x)"}}}, ("properties", "a", "pattern")),
        ({"pattern": r"(a)\1"}, ("pattern",)),
        ({"format": "nope"}, ("format",)),
        ({"minimum": "x"}, ("minimum",)),
        ({"$ref": "https://example.com/x"}, ()),
        ({"$ref": "file:///etc/hostname"}, ()),
        ({"$ref": "#/$defs/none"}, ()),
    ],
)
def test_what_backtracks_asserts_nothing_or_reaches_out_is_refused(
    schema: dict[str, Any], path: tuple[str, ...]
) -> None:
    """Look-around, unknown formats and references to the outside do not compile."""
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert caught.value.path == path


def test_a_pattern_takes_linear_time() -> None:
    """A text on which backtracking engines take for ever is matched at once."""
    validator = compile_schema({"pattern": "^(a+)+$"})

    assert not validator.is_valid("a" * 50_000 + "b")


def test_every_misshapen_keyword_is_found_at_once() -> None:
    """An author sees all mistakes of a schema in one run."""
    found = dict(shape_faults({"type": "strin", "properties": {"a": {"minimum": "x"}}}))

    assert set(found) == {("type",), ("properties", "a", "minimum")}
