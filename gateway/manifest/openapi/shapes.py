"""What a converted schema lets a value be, and so where in a request it can stand."""

from collections.abc import Mapping
from typing import Any, Final

SCALARS: Final = frozenset({"string", "number", "integer", "boolean"})
# So many schemas are looked at: alternatives of alternatives multiply.
_LOOKED_AT: Final = 200
_BRANCHES: Final = ("anyOf", "oneOf")


def types_of(schema: Any, definitions: Mapping[str, Any]) -> frozenset[str] | None:
    """The types that a schema lets through; None if it does not say, or only in many words."""
    return _types(schema, definitions, [_LOOKED_AT])


def _types(schema: Any, definitions: Mapping[str, Any], left: list[int]) -> frozenset[str] | None:
    left[0] -= 1
    if not isinstance(schema, Mapping) or left[0] < 0:
        return None
    if "$ref" in schema:
        return _types(definitions.get(schema["$ref"].removeprefix("#/$defs/")), definitions, left)
    kind = schema.get("type")
    if kind is not None:
        return frozenset(kind if isinstance(kind, list) else [kind])
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if values is not None:
        return frozenset(map(_type_of, values))
    for keyword in _BRANCHES:
        if keyword in schema:
            found = [_types(part, definitions, left) for part in schema[keyword]]
            return None if None in found else frozenset().union(*(it for it in found if it is not None))
    for part in schema.get("allOf", ()):
        if (types := _types(part, definitions, left)) is not None:
            return types
    return None


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The same without null: in a path, a query or a header, what is null is not given at all."""
    changed = dict(schema)
    kind = changed.get("type")
    if isinstance(kind, list):
        kinds = [each for each in kind if each != "null"]
        changed["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "enum" in changed:
        changed["enum"] = [value for value in changed["enum"] if value is not None]
    for keyword in _BRANCHES:
        if keyword in changed:
            parts = [part for part in changed[keyword] if not _is_null(part)]
            if len(parts) == 1 and isinstance(parts[0], Mapping):
                rest = {name: value for name, value in changed.items() if name != keyword}
                # The branch alone, unless something beside it asserts the same keyword.
                if not (set(rest) - {"description"}) & set(parts[0]):
                    return without_null({**parts[0], **rest})
            changed[keyword] = parts
    return changed


def is_scalar(schema: Any, definitions: Mapping[str, Any]) -> bool:
    """Whether every value that it lets through is a text, a number, true or false. An open one is not."""
    types = types_of(schema, definitions)
    return types is not None and bool(types) and types <= SCALARS


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") == "null" or schema.get("enum") == [None])


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "object" if isinstance(value, Mapping) else "array"
