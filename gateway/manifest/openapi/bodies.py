"""The body of an operation: one argument a member where that says the same, else one argument for all of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.manifest.openapi.document import At, Note, OpenApiError
from gateway.manifest.openapi.parameters import Parameter, placed
from gateway.manifest.openapi.references import Documents, shown
from gateway.manifest.openapi.schemas import Converter
from gateway.manifest.openapi.shapes import is_scalar, without_null

_FORM: Final = "application/x-www-form-urlencoded"
_JSON: Final = "application/json"
# So many parts of parts are joined: they multiply.
_LOOKED_AT: Final = 200
# What an object may say and still be no more than its members.
_FLAT: Final = frozenset({"type", "properties", "required", "description", "additionalProperties"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What goes into the body.

    Attributes:
        media: the content type, as the document has it.
        members: one for each member of the object; `place` is `body` or `form`.
        whole: the schema of the body where it stays one argument.
        required: without it the request has no meaning.
    """

    media: str
    members: tuple[Parameter, ...] = ()
    whole: dict[str, Any] | None = None
    required: bool


def convert(operation: Mapping[str, Any], at: At, documents: Documents, converter: Converter) -> Body | None:
    """The body of an operation, or None.

    Raises:
        OpenApiError: it cannot be sent.
    """
    if operation.get("requestBody") is None:
        return None
    body, where = documents.deref(operation["requestBody"], at.below("requestBody"))
    content = body.get("content") if isinstance(body, Mapping) else None
    if not isinstance(content, Mapping) or not content:
        raise OpenApiError("a request body has `content`", where)
    media = _chosen(content, where)
    described, here = content[media], where.below("content", media)
    if not isinstance(described, Mapping):
        raise OpenApiError("a media type is an object", here)
    required = body.get("required") is True
    schema = converter.argument(described.get("schema", True), here.below("schema"))
    # A body that may also be null is sent as an object: that is one of the two.
    flat = _merged(without_null(schema), converter, [_LOOKED_AT])
    if media.partition(";")[0].strip().lower() == _FORM:
        if flat is None:
            raise OpenApiError("a form is an object with declared members", here)
        members = _form(flat, described, converter, here.below("schema"))
        return Body(media=_FORM, members=members, required=required)
    if flat is None:
        return Body(media=media, whole=schema, required=required)
    needed = set(flat.get("required", []))
    members = tuple(
        Parameter(name=name, place="body", required=name in needed, schema=_seen(part, converter))
        for name, part in flat["properties"].items()
    )
    return Body(media=media, members=members, required=required)


def _chosen(content: Mapping[str, Any], at: At) -> str:
    """JSON before other JSON before a form."""
    plain = {media: media.partition(";")[0].strip().lower() for media in content}
    for wanted in (_JSON, "*/*", "+json", _FORM):
        for media, kind in plain.items():
            if kind == wanted or (wanted == "+json" and kind.endswith("+json")):
                return media
    kinds = ", ".join(shown(media) for media in list(content)[:3])
    raise OpenApiError(f"its body is {kinds}; JSON and URL-encoded forms are sent", at.below("content"))


def content_type(media: str) -> str | None:
    """The header of a body, where it is not the one that is set anyway."""
    return None if media in {_JSON, "*/*", _FORM} else media


def _merged(schema: dict[str, Any], converter: Converter, left: list[int]) -> dict[str, Any] | None:
    """The schema as one flat object, `allOf` of flat objects joined; None if its members do not say everything."""
    left[0] -= 1
    if left[0] < 0:
        return None
    schema = _followed(schema, converter)
    if "allOf" in schema:
        rest = {name: value for name, value in schema.items() if name != "allOf"}
        parts = [rest, *schema["allOf"]]
        merged: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        for part in parts:
            flat = _merged(part, converter, left) if isinstance(part, dict) else None
            if flat is None:
                if isinstance(part, dict) and not set(part) - {"description", "required", "type"}:
                    merged["required"] += part.get("required", [])
                    continue
                return None
            for name, member in flat["properties"].items():
                if merged["properties"].setdefault(name, member) != member:
                    return None
            merged["required"] += flat.get("required", [])
        return merged if _is_whole(merged) else None
    if schema.get("type", "object") != "object" or set(schema) - _FLAT or not schema.get("properties"):
        return None
    if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        return None
    return schema if _is_whole(schema) else None


def _is_whole(schema: Mapping[str, Any]) -> bool:
    """Whether every required member is declared, as the arguments of a tool are."""
    return set(schema.get("required", [])) <= set(schema["properties"])


def _followed(schema: dict[str, Any], converter: Converter) -> dict[str, Any]:
    while "$ref" in schema and not set(schema) - {"$ref", "description"}:
        schema = converter.definitions[schema["$ref"].removeprefix("#/$defs/")]
    return schema


def _seen(part: Any, converter: Converter) -> dict[str, Any]:
    """A member's schema; one that only names a single value is written out, so that it can identify an operation."""
    if not isinstance(part, dict):
        return {}
    followed = _followed(part, converter)
    return followed if is_scalar(followed, converter.definitions) else part


def _form(flat: Mapping[str, Any], described: Mapping[str, Any], converter: Converter, at: At) -> tuple[Parameter, ...]:
    encodings = described.get("encoding")
    needed = set(flat.get("required", []))
    members = []
    for name, part in flat["properties"].items():
        encoding = encodings.get(name) if isinstance(encodings, Mapping) else None
        encoding = encoding if isinstance(encoding, Mapping) else {}
        style = str(encoding.get("style", "form"))
        explode = encoding.get("explode", style == "form") is True
        try:
            schema = _followed(part, converter) if isinstance(part, dict) else {}
            member = placed(name, "form", schema, converter, at, required=name in needed, style=style, explode=explode)
        except OpenApiError as error:
            if name in needed:
                raise
            message = f"the optional form member `{shown(name)}` is left out: {error}"
            converter.notes.append(Note(message, error.at))
            continue
        members.append(member)
    return tuple(members)
