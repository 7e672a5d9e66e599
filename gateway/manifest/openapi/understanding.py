"""One operation as a tool sees it: arguments in, one request out. Import and backend read it from here, alike."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.contract.canonical import NotCanonical, canonical
from gateway.manifest.openapi import bodies, parameters
from gateway.manifest.openapi.bodies import Body
from gateway.manifest.openapi.document import Note, OpenApiError
from gateway.manifest.openapi.operations import Operation
from gateway.manifest.openapi.parameters import KEY_HEADERS, Parameter
from gateway.manifest.openapi.references import Documents, shown
from gateway.manifest.openapi.schemas import Converter

_HOLE: Final = re.compile(r"\{([^{}]*)\}")
_LITERAL: Final = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/%-]*")
_FIXED_QUERY: Final = re.compile(r"[A-Za-z0-9._~%-]+=[A-Za-z0-9._~%-]*(?:&[A-Za-z0-9._~%-]+=[A-Za-z0-9._~%-]*)*")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What is sent for a call of one operation.

    Attributes:
        arguments: JSON Schema of the call's arguments.
        request: `method`, `path`, `query`, `headers`, `body` and `form` of the backend, holes and all.
        digest: of both, words for people apart. It changes when what is sent or accepted does.
        notes: what the document asks for and is not done.
        takes_key: the header in which the operation is said to take an idempotency key.
    """

    operation: Operation
    arguments: Mapping[str, Any]
    request: Mapping[str, Any]
    digest: str
    notes: tuple[Note, ...] = ()
    takes_key: str | None = None
    required: tuple[str, ...] = field(default=())


def understand(operation: Operation, documents: Documents) -> Understood:
    """What calling an operation takes and sends.

    Raises:
        OpenApiError: it cannot be called.
    """
    try:
        return _understood(operation, documents)
    except RecursionError:
        raise OpenApiError("its schemas are nested too deep", operation.at) from None


def _understood(operation: Operation, documents: Documents) -> Understood:
    converter = Converter(documents)
    found = [parameters.convert(value, at, converter) for value, at in operation.parameters]
    values = [parameter for parameter in found if parameter is not None]
    body = None
    if operation.method in _WITHOUT_BODY:
        if operation.value.get("requestBody") is not None:
            raise OpenApiError(f"{operation.method} with a body is not sent", operation.at.below("requestBody"))
    else:
        body = bodies.convert(operation.value, operation.at, documents, converter)
    names = _named(values, body)
    schema = _arguments(names, converter)
    request = _request(operation, names, body)
    try:
        digest = hashlib.sha256(canonical({"v": 1, "arguments": _silent(schema), "request": request})).hexdigest()
    except NotCanonical as error:
        raise OpenApiError(f"it has no canonical form: {error}", operation.at) from None
    return Understood(
        operation=operation,
        arguments=schema,
        request=request,
        digest=f"sha256:{digest}",
        notes=tuple(dict.fromkeys(converter.notes)),
        takes_key=_key_header(operation),
        required=tuple(schema.get("required", ())),
    )


def _named(values: list[Parameter], body: Body | None) -> dict[str, Parameter]:
    """Argument name -> value, in the document's order. One name, several places: the later ones say where they go."""
    named: dict[str, Parameter] = {}
    for parameter in (*values, *(body.members if body else ())):
        stem = _NOT_IN_NAMES.sub("_", parameter.name).strip("_")[:64] or "value"
        name = stem if stem not in named else f"{stem}_in_{parameter.place}"
        number = 2
        while name in named:
            name, number = f"{stem}_in_{parameter.place}_{number}", number + 1
        named[name] = parameter
    if body is not None and body.whole is not None:
        name = "body" if "body" not in named else "request_body"
        named[name] = Parameter(name="", place="whole", required=body.required, schema=body.whole)
    return named


def _arguments(names: Mapping[str, Parameter], converter: Converter) -> dict[str, Any]:
    required = [name for name, parameter in names.items() if parameter.required]
    schema: dict[str, Any] = {"type": "object"}
    if required:
        schema["required"] = required
    schema["properties"] = {name: parameter.schema for name, parameter in names.items()}
    if definitions := converter.used_definitions(schema):
        schema["$defs"] = definitions
    return schema


def _request(operation: Operation, names: Mapping[str, Parameter], body: Body | None) -> dict[str, Any]:
    request: dict[str, Any] = {"method": operation.method, "path": _path(operation, names)}
    for place, section in (("query", "query"), ("header", "headers"), ("form", "form"), ("body", "body")):
        placed = {
            parameter.name: _hole(name, parameter) for name, parameter in names.items() if parameter.place == place
        }
        if placed:
            request[section] = placed
    if body is not None and body.whole is not None:
        request["body"] = next(_hole(name, it) for name, it in names.items() if it.place == "whole")
    if body is not None and (media := bodies.content_type(body.media)) is not None:
        request["headers"] = {**request.get("headers", {}), "Content-Type": media}
    return request


def _hole(argument: str, parameter: Parameter) -> Any:
    text = f"{{args.{argument}}}"
    return text if parameter.style is None else {"value": text, "style": parameter.style}


def _path(operation: Operation, names: Mapping[str, Parameter]) -> str:
    """The path with the holes of a template. It is the document's text, and may neither climb nor name a host."""
    at = operation.at
    arguments = {parameter.name: name for name, parameter in names.items() if parameter.place == "path"}
    if not operation.path.startswith("/") or operation.path.startswith("//"):
        raise OpenApiError("a path begins with one `/`", at)
    # Some services tell operations apart by a fixed query, which OpenAPI itself does not know.
    path, fixed, query = operation.path.partition("?")
    if fixed and not _FIXED_QUERY.fullmatch(query):
        raise OpenApiError(f"the path has the query `{shown(query)}`, which is not fixed", at)
    written, end = "", 0
    for hole in _HOLE.finditer(path):
        if hole[1] not in arguments:
            raise OpenApiError(f"`{shown(hole[0])}` in the path has no parameter", at)
        written += f"{_literal(path[end : hole.start()], operation)}{{args.{arguments.pop(hole[1])}}}"
        end = hole.end()
    written += _literal(path[end:], operation)
    if arguments:
        raise OpenApiError(f"the path has no place for its parameter `{shown(next(iter(arguments)))}`", at)
    if any(segment in {".", ".."} for segment in written.split("/")):
        raise OpenApiError("a path may not have `.` or `..` segments", at)
    return written + (f"?{query}" if fixed else "")


def _literal(text: str, operation: Operation) -> str:
    if not _LITERAL.fullmatch(text):
        raise OpenApiError(f"the path has `{shown(text)}`, which a path cannot have", operation.at)
    # `$` before a hole would make it the name of an environment variable.
    return f"{text[:-1]}%24" if text.endswith("$") else text


def _key_header(operation: Operation) -> str | None:
    names: Iterator[str] = (value["name"] for value, _ in operation.parameters if value["in"] == "header")
    return next((name for name in names if name.lower() in KEY_HEADERS), None)


def _silent(value: Any, *, names: bool = False) -> Any:
    """A schema without descriptions; members that are called `description` stay."""
    if isinstance(value, list):
        return [_silent(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: _silent(part, names=not names and name in {"properties", "$defs", "patternProperties"})
        for name, part in value.items()
        if names or name != "description"
    }
