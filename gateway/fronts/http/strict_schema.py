"""Schemas that a provider can keep a model to by force ("strict mode").

The subset is one that OpenAI and Anthropic both take: every member required, no others, no bounds. A schema comes out
of here only if all that a model can write under it is what the manifest means: an optional argument would have to be
written as null, which is another value than none, so a tool with one is not strict.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

_KEPT: Final = ("description", "enum")
# Bounds that no grammar enforces go into words; the gateway holds calls to them.
_SAID: Final = (
    "pattern", "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minItems", "maxItems", "uniqueItems",
)  # fmt: skip
_DROPPED: Final = frozenset({"title", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"})
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})
_MAX_DEPTH: Final = 5
_MAX_MEMBERS: Final = 100


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema in the strict subset, or None where it has no equivalent there."""
    try:
        strict = _strict(schema, depth=1)
    except _NoEquivalentError:
        return None
    return strict if strict.get("type") == "object" and _members(strict) <= _MAX_MEMBERS else None


class _NoEquivalentError(Exception):
    pass


def _strict(schema: Any, *, depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        raise _NoEquivalentError
    known = {
        *_KEPT,
        *_SAID,
        *_DROPPED,
        "type",
        "const",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
    }
    if schema.keys() - known:
        raise _NoEquivalentError
    strict: dict[str, Any] = {name: schema[name] for name in _KEPT if name in schema}
    if "const" in schema:
        strict["enum"] = [schema["const"]]
    if said := _in_words(schema):
        strict["description"] = f"{strict['description']} ({said})" if "description" in strict else said
    if "anyOf" in schema:
        if "type" in schema or "properties" in schema:
            raise _NoEquivalentError
        return {**strict, "anyOf": [_strict(branch, depth=depth) for branch in schema["anyOf"]]}
    kinds = schema.get("type")
    if kinds == "object":
        return {**strict, **_object(schema, depth=depth)}
    if kinds == "array":
        return {**strict, "type": "array", "items": _strict(schema.get("items"), depth=depth + 1)}
    chosen = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(chosen, list) or not chosen or not set(chosen) <= _SCALARS:
        raise _NoEquivalentError
    return {**strict, "type": kinds}


def _object(schema: Mapping[str, Any], *, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
        raise _NoEquivalentError
    return {
        "type": "object",
        "properties": {name: _strict(child, depth=depth + 1) for name, child in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


def _in_words(schema: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {json.dumps(schema[name], ensure_ascii=False)}" for name in _SAID if name in schema)


def _members(schema: Any) -> int:
    if isinstance(schema, list):
        return sum(map(_members, schema))
    if not isinstance(schema, Mapping):
        return 0
    return len(schema.get("properties", {})) + sum(map(_members, schema.values()))
