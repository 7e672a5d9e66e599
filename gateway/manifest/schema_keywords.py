"""A walk over a JSON Schema that finds what the validator would silently ignore.

It ignores unknown keywords, so a misspelt `minLenght` bounds nothing; and it knows nothing of our own `x-` keywords
and of where `default` is filled in.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.manifest.complaint import did_you_mean, nearest
from gateway.manifest.normalisers import NORMALISERS
from gateway.manifest.schemas import SchemaError, compile_schema, shape_faults
from gateway.manifest.yaml_events import Path

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_ONE_SCHEMA: Final = frozenset(
    [
        "additionalProperties",
        "contains",
        "contentSchema",
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
_SCHEMA_LISTS: Final = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
_SCHEMA_MAPS: Final = frozenset(["$defs", "dependentSchemas", "patternProperties", "properties"])
_OTHERS: Final = frozenset(
    [
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$ref",
        "$schema",
        "$vocabulary",
        "const",
        "contentEncoding",
        "contentMediaType",
        "default",
        "dependentRequired",
        "deprecated",
        "description",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maximum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "minContains",
        "minimum",
        "minItems",
        "minLength",
        "minProperties",
        "multipleOf",
        "pattern",
        "readOnly",
        "required",
        "title",
        "type",
        "uniqueItems",
        "writeOnly",
    ]
)
KEYWORDS: Final = _ONE_SCHEMA | _SCHEMA_LISTS | _SCHEMA_MAPS | _OTHERS
_RENAMED: Final = {
    "definitions": "$defs",
    "dependencies": "dependentRequired",
    "id": "$id",
    "$recursiveRef": "$dynamicRef",
}
OWN_KEYWORDS: Final = frozenset(["x-normalise", "x-sensitive", "x-immaterial"])


# What the validator's own words do not say, by the keyword that it stumbles over.
_MENDS: Final[Mapping[str, str]] = {
    "pattern": "patterns are matched in linear time: without look-around and back-references",
    "format": "this is no format of JSON Schema 2020-12, and would assert nothing; remove it or use `pattern`",
    "type": "a type is string, number, integer, boolean, object, array or null",
}
_NOT_OF_TYPE: Final = re.compile(r"(.*) is not of types? (.*)", re.DOTALL)
_TYPES: Final = {
    "array": "a list, as [order_id],",
    "object": "a map",
    "boolean": "true or false",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
}


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """What is wrong in a schema, at a path from its root."""

    path: Path
    message: str
    on_key: bool = False


def faults(schema: Mapping[str, Any], *, arguments: bool) -> tuple[SchemaFault, ...]:
    """Everything that is wrong with a schema; of `arguments` more is asked than of a result."""
    found = [*_walk(schema, ())]
    if arguments:
        found += _own(schema, ())
        found += _root(schema)
    else:
        found += [
            SchemaFault((*path, name), f"`{name}` has no effect on a result; remove it", on_key=True)
            for path, part in _schemas(schema, ())
            for name in sorted(OWN_KEYWORDS & set(part))
        ]
    seen = {fault.path for fault in found}
    for path, message in shape_faults(schema):
        if path not in seen:
            seen.add(path)  # the validator says it once for each of its vocabularies
            found.append(SchemaFault(path, _MENDS.get(str(path[-1:] and path[-1])) or _in_words(message)))
    if not found:
        try:
            compile_schema(schema)
        except SchemaError as error:
            found.append(SchemaFault(error.path, _MENDS.get(str(error.path[-1:] and error.path[-1]), str(error))))
    if arguments and not found:
        found += _defaults(schema)
    return tuple(found)


def _in_words(message: str) -> str:
    """What the validator says of a keyword's value, in the words of whoever writes YAML."""
    if (wrong := _NOT_OF_TYPE.fullmatch(message)) is None:
        return message
    wanted = " or ".join(_TYPES.get(it, it) for it in re.findall(r"\w+", wrong[2]))
    return f"{wrong[1]} stands where {wanted} has to"


def _schemas(schema: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for keyword, value in schema.items():
        here = (*path, keyword)
        if keyword in _ONE_SCHEMA:
            yield from _schemas(value, here)
        elif keyword in _SCHEMA_LISTS and isinstance(value, list):
            for index, part in enumerate(value):
                yield from _schemas(part, (*here, index))
        elif keyword in _SCHEMA_MAPS and isinstance(value, Mapping):
            for name, part in value.items():
                yield from _schemas(part, (*here, name))


def _walk(schema: Mapping[str, Any], root: Path) -> Iterator[SchemaFault]:
    for path, part in _schemas(schema, root):
        for keyword, value in part.items():
            here = (*path, keyword)
            if keyword == "$schema" and value != DIALECT:
                yield SchemaFault(here, f"schemas are JSON Schema 2020-12; remove `$schema` or write {DIALECT}")
            if keyword in {"$ref", "$dynamicRef"} and not str(value).startswith("#"):
                yield SchemaFault(
                    here, "a schema refers to its own `$defs` only (`#/$defs/NAME`); copy the schema there"
                )
            if keyword in KEYWORDS | OWN_KEYWORDS:
                continue
            if not keyword.startswith("x-"):
                meant = _RENAMED.get(keyword) or nearest(keyword, KEYWORDS)
                meant = f"did you mean `{meant}`?" if meant else "remove it"
                message = f"JSON Schema 2020-12 has no keyword `{keyword}` and ignores it; {meant}"
                yield SchemaFault(here, message, on_key=True)
            elif (own := nearest(keyword, OWN_KEYWORDS)) is not None:
                yield SchemaFault(here, f"`{keyword}` does nothing; did you mean `{own}`?", on_key=True)


def _own(schema: Mapping[str, Any], root: Path) -> Iterator[SchemaFault]:
    """Our keywords and `default`: each where it is read, with a value that can be used."""
    for path, part in _schemas(schema, root):
        if "x-normalise" in part:
            yield from _normalise(path, part)
        if "default" in part and not (path and _is_prepared(path) and path[-2] == "properties"):
            message = "a default is filled in for a property only, not here; remove it"
            yield SchemaFault((*path, "default"), message, on_key=True)
        for keyword in ("x-sensitive", "x-immaterial"):
            if keyword not in part:
                continue
            here = (*path, keyword)
            if not (len(path) == 2 and path[0] == "properties"):
                yield SchemaFault(here, f"`{keyword}` marks a whole argument; write it there", on_key=True)
            elif part[keyword] is not True:
                yield SchemaFault(here, f"`{keyword}` is true or absent")


def _normalise(path: Path, part: Mapping[str, Any]) -> Iterator[SchemaFault]:
    here = (*path, "x-normalise")
    names = part["x-normalise"]
    if not isinstance(names, list) or not names:
        yield SchemaFault(here, f"`x-normalise` is a list of {', '.join(NORMALISERS)}")
        return
    for index, name in enumerate(names):
        if not isinstance(name, str) or name not in NORMALISERS:
            yield SchemaFault((*here, index), f"unknown normaliser `{name}`; {did_you_mean(str(name), NORMALISERS)}")
    if "upper" in names and "lower" in names:
        yield SchemaFault(here, "`upper` and `lower` undo one another; keep one")
    if part.get("type") != "string":
        yield SchemaFault(here, "only a text can be normalised; write `type: string` beside it", on_key=True)
    if not path or not _is_prepared(path):
        message = "a text is normalised below `properties` and `items` only, not here; move it there"
        yield SchemaFault(here, message, on_key=True)


def _is_prepared(path: Path) -> bool:
    """Whether every step is a property or the items of a list: where arguments are normalised and defaulted."""
    at = 0
    while at < len(path):
        if path[at] == "properties" and at + 1 < len(path):
            at += 2
        elif path[at] == "items":
            at += 1
        else:
            return False
    return True


def _root(schema: Mapping[str, Any]) -> Iterator[SchemaFault]:
    if schema.get("type") != "object":
        yield SchemaFault(("type",) if "type" in schema else (), "arguments are an object: write `type: object`")
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return
    for index, name in enumerate(required):
        if not isinstance(name, str) or name not in properties:
            message = f"`{name}` is required and not declared; {did_you_mean(str(name), properties)}"
            yield SchemaFault(("required", index), message)
        elif isinstance(properties[name], Mapping) and "default" in properties[name]:
            message = f"`{name}` has a default and is required; remove one of the two"
            yield SchemaFault(("properties", name, "default"), message, on_key=True)


def _defaults(schema: Mapping[str, Any]) -> Iterator[SchemaFault]:
    shared = {name: schema[name] for name in ("$defs",) if name in schema}
    for path, part in _schemas(schema, ()):
        if path and "default" in part and not compile_schema({**part, **shared}).is_valid(part["default"]):
            yield SchemaFault((*path, "default"), "the default is not a valid value of its own schema")
