"""Which keywords of an OpenAPI schema a manifest takes over, and what a value must be to mean anything."""

import math
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from gateway.contract.canonical import MAX_INTEGER, NotCanonical, canonical
from gateway.manifest.credentials import masked
from gateway.manifest.schemas import SchemaError, compile_schema

DESCRIPTION: Final = 300
"""Characters kept of a description inside a schema."""

TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
# Holding one schema, a list of them, or a map of them.
ONE: Final = frozenset(
    [
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
LISTS: Final = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
MAPS: Final = frozenset(["dependentSchemas", "patternProperties", "properties"])
IN_PLACE: Final = frozenset(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$ref"])
"""They apply to the very value that the schema around them applies to."""
# Notes to people, or about XML and about answers: nothing is asserted by them.
SILENT: Final = frozenset(
    [
        "$comment",
        "$defs",
        "$schema",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "definitions",
        "deprecated",
        "discriminator",
        "example",
        "examples",
        "externalDocs",
        "nullable",
        "readOnly",
        "title",
        "writeOnly",
        "xml",
    ]
)
UNFOLLOWED: Final = frozenset(["$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef"])


def _number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and (isinstance(value, float) or abs(value) <= MAX_INTEGER)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_INTEGER


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _dependent(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_names(names) for names in value.values())


def _json(value: Any) -> bool:
    try:
        canonical(value)
    except NotCanonical:
        return False
    return True


@lru_cache(maxsize=4096)
def pattern_compiles(pattern: str) -> bool:
    """Whether it can be matched in linear time."""
    return _compiles({"type": "string", "pattern": pattern})


@lru_cache(maxsize=256)
def format_is_known(name: str) -> bool:
    """Whether JSON Schema 2020-12 asserts it."""
    return _compiles({"type": "string", "format": name})


def _compiles(schema: dict[str, Any]) -> bool:
    try:
        compile_schema(schema)
    except SchemaError:
        return False
    return True


# Keyword -> whether its value means anything. What does not is left out, with a note.
PLAIN: Final[Mapping[str, Callable[[Any], bool]]] = {
    "maximum": _number,
    "minimum": _number,
    "exclusiveMaximum": _number,
    "exclusiveMinimum": _number,
    "multipleOf": _positive,
    "maxLength": _count,
    "minLength": _count,
    "maxItems": _count,
    "minItems": _count,
    "maxProperties": _count,
    "minProperties": _count,
    "maxContains": _count,
    "minContains": _count,
    "uniqueItems": lambda value: isinstance(value, bool),
    "required": _names,
    "dependentRequired": _dependent,
    "enum": lambda value: isinstance(value, list) and bool(value) and _json(value),
    "const": _json,
    "pattern": lambda value: isinstance(value, str) and pattern_compiles(value),
    "format": lambda value: isinstance(value, str) and format_is_known(value),
}
_WIDE: Final = frozenset({"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"})


def is_vacuous(keyword: str, value: Any) -> bool:
    """Whether leaving it out lets nothing more through: a bound beyond every integer that is accepted anyway, or a
    format that is a hint to code generators.
    """
    if keyword in _WIDE:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > MAX_INTEGER
    return keyword == "format"


def clean(text: Any, limit: int) -> str:
    """A document's text for people and models: one line, bounded, without controls and marks that turn its direction,
    and without what looks like a credential (an example of one is no reason to refuse a tool).
    """
    if not isinstance(text, str):
        return ""
    spaced = "".join(" " if letter.isspace() else letter for letter in text[: limit * 4])
    shown = "".join(letter for letter in spaced if unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Co", "Cn"})
    line = masked(" ".join(shown.split()))
    return line if len(line) <= limit else f"{line[: limit - 3].rstrip()}..."
