"""Schemas of OpenAPI 3.0 and 3.1 as JSON Schema 2020-12, for what a caller sends."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.manifest.openapi.document import At, Note, OpenApiError
from gateway.manifest.openapi.keywords import (
    DESCRIPTION,
    IN_PLACE,
    LISTS,
    MAPS,
    ONE,
    PLAIN,
    SILENT,
    TYPES,
    UNFOLLOWED,
    clean,
    is_vacuous,
    pattern_compiles,
)
from gateway.manifest.openapi.references import Documents, shown

MAX_SCHEMAS: Final = 5_000
_INT32: Final = 2**31
_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")


class Converter:
    """Converts the schemas of one operation; what they refer to is collected in `definitions`.

    `notes` says what could not be taken over, so that less is asserted than the document asks for.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.definitions: dict[str, Any] = {}
        self.notes: list[Note] = []
        self._names: dict[At, str] = {}
        self._waiting: list[tuple[str, At]] = []
        self._count = 0

    def argument(self, schema: Any, at: At) -> dict[str, Any]:
        """A schema with its outermost references followed, so that its type can be seen.

        Raises:
            OpenApiError: it cannot be taken over.
        """
        converted = self._inner(schema, at)
        while self._waiting:
            name, target = self._waiting.pop()
            self.definitions[name] = self._schema(self._documents.value(target), target)
        self._refuse_endless()
        return converted

    def _inner(self, schema: Any, at: At) -> dict[str, Any]:
        beside = schema if isinstance(schema, Mapping) else {}
        found, where = self._documents.deref(schema, at)
        if isinstance(found, Mapping) and _wraps_one(found):
            inner = self._inner(found["allOf"][0], where.below("allOf", 0))
            if found.get("nullable") is True:
                inner = _or_null(inner)
            return _described(inner, found)
        return _described(self._schema(found, where), beside)

    def words(self, parameter: Mapping[str, Any]) -> dict[str, Any]:
        """The description of a parameter, as a part of its schema."""
        return _words(parameter.get("description"))

    def used_definitions(self, schema: Any) -> dict[str, Any]:
        """The definitions that a converted schema needs, those that these need included."""
        used: dict[str, Any] = {}
        waiting = list(_references(schema))
        while waiting:
            name = waiting.pop()
            if name not in used:
                used[name] = self.definitions[name]
                waiting += _references(used[name])
        return {name: used[name] for name in sorted(used)}

    def _schema(self, schema: Any, at: At) -> dict[str, Any]:
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            raise OpenApiError("a schema is an object here", at)
        self._count += 1
        if self._count > MAX_SCHEMAS:
            raise OpenApiError(f"it takes more than {MAX_SCHEMAS} schemas to say what it accepts", at)
        if isinstance(schema.get("$ref"), str):
            return self._reference(schema, at)
        if _wraps_one(schema):
            # `allOf` with one member is how 3.0 puts a description or `nullable` beside a reference.
            inner = _described(self._schema(schema["allOf"][0], at.below("allOf", 0)), schema)
            return _or_null(inner) if schema.get("nullable") is True else inner
        converted: dict[str, Any] = {}
        self._type(schema, converted, at)
        for keyword, value in schema.items():
            self._keyword(keyword, value, converted, at)
        _exclusive_bounds(schema, converted)
        self._members(schema, converted, at)
        if schema.get("nullable") is True:
            return _or_null(converted)
        return converted

    def _reference(self, schema: Mapping[str, Any], at: At) -> dict[str, Any]:
        target = self._documents.target(schema["$ref"], at)
        if target not in self._names:
            name = self._free_name(target)
            self._names[target] = name
            # Not converted here: a chain of references may be longer than a stack is deep.
            self.definitions[name] = {}
            self._waiting.append((name, target))
        return {"$ref": f"#/$defs/{self._names[target]}"}

    def _free_name(self, target: At) -> str:
        stem = _NAME.sub("_", str(target.path[-1] if target.path else target.file))[:64] or "schema"
        name, number = stem, 2
        while name in self.definitions:
            name, number = f"{stem}_{number}", number + 1
        return name

    def _type(self, schema: Mapping[str, Any], converted: dict[str, Any], at: At) -> None:
        kind = schema.get("type")
        if kind is None:
            return
        kinds = kind if isinstance(kind, list) else [kind]
        for each in kinds:
            if not isinstance(each, str) or each not in TYPES:
                raise OpenApiError(f"`type: {shown(str(each))}` is no type of a JSON value", at.below("type"))
        converted["type"] = kinds[0] if len(kinds) == 1 else list(dict.fromkeys(kinds))
        if schema.get("format") == "int32" and converted["type"] == "integer":
            converted["minimum"], converted["maximum"] = -_INT32, _INT32 - 1

    def _keyword(self, keyword: str, value: Any, converted: dict[str, Any], at: At) -> None:
        here = at.below(keyword)
        if keyword in UNFOLLOWED:
            raise OpenApiError(f"`{keyword}` is not followed; refer by `$ref` and a path", here)
        if keyword == "description":
            converted |= _words(value)
        elif keyword in PLAIN:
            if PLAIN[keyword](value):
                converted[keyword] = value
            elif not is_vacuous(keyword, value) and not isinstance(value, bool):
                self._note(f"`{keyword}: {shown(str(value))}` cannot be asserted", here)
        elif keyword in ONE | LISTS | MAPS:
            # Properties are taken over with their neighbour `required`.
            if keyword != "properties":
                converted[keyword] = self._nested(keyword, value, here)
        elif keyword not in SILENT and keyword != "type" and not keyword.startswith("x-"):
            self._note(f"`{shown(keyword)}` is no keyword of JSON Schema", here)

    def _nested(self, keyword: str, value: Any, at: At) -> Any:
        if keyword in ONE:
            return value if isinstance(value, bool) else self._schema(value, at)
        if keyword in MAPS:
            return self._map(keyword, value, at)
        if not isinstance(value, list) or not value:
            raise OpenApiError(f"`{keyword}` is a list of schemas", at)
        return [self._schema(part, at.below(index)) for index, part in enumerate(value)]

    def _map(self, keyword: str, value: Any, at: At) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise OpenApiError(f"`{keyword}` is a map of schemas", at)
        for name in value:
            if keyword == "patternProperties" and not pattern_compiles(name):
                raise OpenApiError(f"the pattern `{shown(name)}` cannot be matched in linear time", at.below(name))
        return {
            name: part if isinstance(part, bool) else self._schema(part, at.below(name)) for name, part in value.items()
        }

    def _members(self, schema: Mapping[str, Any], converted: dict[str, Any], at: At) -> None:
        """The properties, without those that only answers have."""
        properties = schema.get("properties")
        if properties is None:
            return
        if not isinstance(properties, Mapping):
            raise OpenApiError("`properties` is a map of schemas", at.below("properties"))
        here = at.below("properties")
        hidden = {name for name, part in properties.items() if self._is_read_only(part, here.below(name))}
        kept = {name: part for name, part in properties.items() if name not in hidden}
        converted["properties"] = self._map("properties", kept, here)
        if hidden and "required" in converted:
            converted["required"] = [name for name in converted["required"] if name not in hidden]

    def _is_read_only(self, part: Any, at: At) -> bool:
        found, _ = self._documents.deref(part, at)
        return any(isinstance(it, Mapping) and it.get("readOnly") is True for it in (part, found))

    def _note(self, message: str, at: At) -> None:
        self.notes.append(Note(message, at))

    def _refuse_endless(self) -> None:
        """A schema that applies itself to the same value again would never come to an end."""
        edges = {name: set(_in_place(schema)) for name, schema in self.definitions.items()}
        ended: set[str] = set()
        while ready := [name for name in edges if name not in ended and edges[name] <= ended]:
            ended.update(ready)
        if endless := sorted(set(edges) - ended):
            at = next(target for target, name in self._names.items() if name == endless[0])
            raise OpenApiError(f"the schema `{endless[0]}` refers to itself without an end", at)


def _words(description: Any) -> dict[str, str]:
    text = clean(description, DESCRIPTION)
    return {"description": text} if text else {}


def _wraps_one(schema: Mapping[str, Any]) -> bool:
    quiet = {"allOf", "description", "title", "nullable", "example", "default", "deprecated"}
    parts = schema.get("allOf")
    return isinstance(parts, list) and len(parts) == 1 and all(name in quiet or name[:2] == "x-" for name in schema)


def _described(converted: dict[str, Any], beside: Mapping[str, Any]) -> dict[str, Any]:
    return {**converted, **_words(beside.get("description"))}


def _exclusive_bounds(schema: Mapping[str, Any], converted: dict[str, Any]) -> None:
    """In 3.0 an exclusive bound is a switch beside the bound."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if schema.get(exclusive) is True and bound in converted:
            converted[exclusive] = converted.pop(bound)


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, or null: `nullable` of 3.0."""
    kind = schema.get("type")
    if kind is None and not schema:
        return schema
    if kind is None or any(name in schema for name in (*LISTS, "const", "$ref")):
        words = {name: schema[name] for name in ("description",) if name in schema}
        rest = {name: value for name, value in schema.items() if name not in words}
        return {"anyOf": [rest, {"type": "null"}], **words}
    kinds = kind if isinstance(kind, list) else [kind]
    nullable = {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}
    if "enum" in schema and None not in schema["enum"]:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas one step below, each with its keyword."""
    for keyword, value in schema.items():
        if keyword in LISTS:
            yield from ((keyword, part) for part in value)
        elif keyword in MAPS:
            yield from ((keyword, part) for part in value.values())
        elif keyword in ONE:
            yield keyword, value


def _references(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    if isinstance(schema.get("$ref"), str):
        yield schema["$ref"].removeprefix("#/$defs/")
    for _, part in _parts(schema):
        yield from _references(part)


def _in_place(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    if "$ref" in schema:
        yield schema["$ref"].removeprefix("#/$defs/")
    for keyword, part in _parts(schema):
        if keyword in IN_PLACE:
            yield from _in_place(part)
