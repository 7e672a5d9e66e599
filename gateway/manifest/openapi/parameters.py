"""Parameters in path, query, header and form: as arguments, and as the templates that put them into a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.manifest.lint_http import RESERVED
from gateway.manifest.openapi.document import At, Note, OpenApiError
from gateway.manifest.openapi.references import shown
from gateway.manifest.openapi.schemas import Converter
from gateway.manifest.openapi.shapes import SCALARS, is_scalar, types_of, without_null

# The document may not say these: they are the backend's own (OpenAPI, "Parameter Object").
_IGNORED_HEADERS: Final = frozenset({"accept", "authorization", "content-type"})
_DEFAULT_STYLES: Final[Mapping[str, str]] = {
    "path": "simple",
    "query": "form",
    "header": "simple",
    "cookie": "form",
    "form": "form",
}
# OpenAPI style and explode -> how the query template writes a list. None: one parameter an item.
_LISTS: Final[Mapping[tuple[str, bool], str | None]] = {
    ("form", True): None,
    ("form", False): "comma",
    ("spaceDelimited", False): "space",
    ("pipeDelimited", False): "pipe",
}
KEY_HEADERS: Final = frozenset({"idempotency-key", "x-idempotency-key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One value of a call, its name and where it goes."""

    name: str
    place: str
    required: bool
    schema: dict[str, Any]
    style: str | None = None
    """As `backend.http.query` has it; None for one value, and for a list with one parameter an item."""


def convert(parameter: Mapping[str, Any], at: At, converter: Converter) -> Parameter | None:
    """One parameter; None for one that the backend fills in itself or that a note says is left out.

    Raises:
        OpenApiError: a required parameter cannot be sent.
    """
    name, place = parameter["name"], parameter["in"]
    if place == "header" and name.lower() in _IGNORED_HEADERS | KEY_HEADERS:
        return None
    required = parameter.get("required") is True or place == "path"
    try:
        return _converted(parameter, at, converter, required=required)
    except OpenApiError as error:
        if required:
            raise
        message = f"the optional {shown(place)} parameter `{shown(name)}` is left out: {error}"
        converter.notes.append(Note(message, error.at))
        return None


def _converted(parameter: Mapping[str, Any], at: At, converter: Converter, *, required: bool) -> Parameter:
    name, place = parameter["name"], parameter["in"]
    if place not in _DEFAULT_STYLES or place == "form":
        raise OpenApiError(f"`in: {shown(place)}` is no place of a parameter", at.below("in"))
    if place == "cookie":
        raise OpenApiError("no cookie is ever sent", at)
    if place == "header" and name.lower() in RESERVED:
        raise OpenApiError(f"the header {name} belongs to the connection", at)
    if place == "header" and not all(33 <= ord(letter) < 127 and letter not in '"(),/:;<=>?@[\\]{}' for letter in name):
        raise OpenApiError(f"`{shown(name)}` is no header name", at)
    if "schema" not in parameter:
        raise OpenApiError("it is a document of its own (`content`), not a value", at)
    schema = converter.argument(parameter["schema"], at.below("schema"))
    if not schema.get("description"):
        schema |= converter.words(parameter)
    style = str(parameter.get("style", _DEFAULT_STYLES[place]))
    explode = parameter.get("explode", style == "form")
    return placed(name, place, schema, converter, at, required=required, style=style, explode=explode is True)


def placed(
    name: str,
    place: str,
    schema: dict[str, Any],
    converter: Converter,
    at: At,
    *,
    required: bool,
    style: str,
    explode: bool,
) -> Parameter:
    """A value with a converted schema at its place in the request.

    Raises:
        OpenApiError: the style cannot be rendered without letting a value become something else.
    """
    schema = without_null(schema)
    definitions = converter.definitions
    types = types_of(schema, definitions)
    if types is None:
        # Nothing is said of it: then it is one value, and no list or object can stand there.
        schema = {**schema, "type": sorted(SCALARS - {"integer"})}
    if types is None or is_scalar(schema, definitions):
        if place in {"path", "header"} and style != "simple":
            raise OpenApiError(f"the style `{shown(style)}` is not written; only `simple` is", at)
        return Parameter(name=name, place=place, required=required, schema=schema)
    if place in {"path", "header"}:
        raise OpenApiError(f"a list or an object is not written into a {place}", at)
    if types == {"array"}:
        return _list(name, place, schema, converter, at, required=required, style=style, explode=explode)
    if types == {"object"} and style == "deepObject":
        return _object(name, place, schema, converter, at, required=required)
    kinds = " or ".join(sorted(types))
    raise OpenApiError(f"{_article(kinds)} {kinds} in the style `{shown(style)}` is not written", at)


def _list(
    name: str,
    place: str,
    schema: dict[str, Any],
    converter: Converter,
    at: At,
    *,
    required: bool,
    style: str,
    explode: bool,
) -> Parameter:
    items = schema.get("items", {})
    items = without_null(items) if isinstance(items, dict) else {}
    if types_of(items, converter.definitions) is None:
        items = {**items, "type": sorted(SCALARS - {"integer"})}
    if not is_scalar(items, converter.definitions):
        raise OpenApiError("a list of lists or objects is not written into a query or a form", at)
    if (style, explode) not in _LISTS:
        raise OpenApiError(f"a list in the style `{shown(style)}`, explode {str(explode).lower()}, is not written", at)
    written = _LISTS[(style, explode)]
    return Parameter(name=name, place=place, required=required, schema={**schema, "items": items}, style=written)


def _object(
    name: str, place: str, schema: dict[str, Any], converter: Converter, at: At, *, required: bool
) -> Parameter:
    members = schema.get("properties")
    if not isinstance(members, dict) or not members or "$ref" in schema:
        raise OpenApiError("an object in a query needs declared members", at)
    kept = {key: without_null(part) for key, part in members.items() if isinstance(part, dict)}
    kept = {key: part for key, part in kept.items() if is_scalar(part, converter.definitions) and _plain(key)}
    missing = sorted(set(schema.get("required", [])) - set(kept))
    if missing or not kept:
        raise OpenApiError(f"its member `{shown((missing or list(members))[0])}` is no single value", at)
    if left := sorted(set(members) - set(kept)):
        message = f"of `{shown(name)}` the members {', '.join(map(shown, left[:5]))} are left out"
        converter.notes.append(Note(message, at))
    closed = {**schema, "properties": kept, "additionalProperties": False}
    return Parameter(name=name, place=place, required=required, schema=closed, style="deep_object")


def _plain(key: str) -> bool:
    return bool(key) and all(letter.isascii() and (letter.isalnum() or letter in "_.-") for letter in key)


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"
