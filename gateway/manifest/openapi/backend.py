"""`backend.openapi` read as the `backend.http` that it stands for.

From here on there is no second kind of request: the same templates, linter, transport and classification. What is pinned
with a record is the request itself, so that it can be settled when the document is gone.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from gateway.manifest.backends import OpenApiSection
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.openapi.document import OpenApiError
from gateway.manifest.openapi.library import Library
from gateway.manifest.openapi.shapes import types_of
from gateway.manifest.openapi.understanding import Understood
from gateway.manifest.placeholders import Reference, parse
from gateway.manifest.yaml_events import Document, Path

_SECTION: Final[Path] = ("backend", "openapi")
_TAKEN_OVER: Final = ("statuses", "already_done", "refused_when", "fresh_connection", "deadline_header", "post_reads")


def has_section(value: Any) -> bool:
    """Whether a manifest's value declares this backend."""
    backend = value.get("backend") if isinstance(value, Mapping) else None
    return isinstance(backend, Mapping) and "openapi" in backend


def expanded(file: str, document: Document, value: Any, library: Library) -> tuple[Document, Any, list[Complaint]]:
    """The manifest with `backend.http` in the place of `backend.openapi`, and what stands against that.

    A shape that is wrong is left to the reader of shapes: then nothing is expanded and nothing said.
    """
    section_value = value["backend"]["openapi"]
    if "http" in value["backend"]:
        message = "a tool has one backend; keep `http` or `openapi`"
        return document, value, [_complaint(file, document, _SECTION, message, on_key=True)]
    try:
        section = OpenApiSection.model_validate(section_value)
    except ValidationError:
        return document, value, []
    try:
        understood = library.understood(section.document, section.operation)
    except OpenApiError as error:
        where = (*_SECTION, "operation")
        return document, value, [_complaint(file, document, where, library.complaint(error))]
    if understood.digest != section.digest:
        message = (
            f"the document's `{section.operation}` is not the one that was reviewed: compare it with a new import, and"
            f" write {understood.digest}"
        )
        return document, value, [_complaint(file, document, (*_SECTION, "digest"), message)]
    arguments = value.get("arguments")
    declared = arguments if isinstance(arguments, Mapping) else {}
    complaints = [_complaint(file, document, path, message) for path, message in _disagreements(understood, declared)]
    backend = {**value["backend"], "http": _http(section, section_value, understood, declared)}
    del backend["openapi"]
    changed = {**value, "backend": backend}
    return (
        replace(document, value=changed, values=_moved(document.values), keys=_moved(document.keys)),
        changed,
        complaints,
    )


def _http(
    section: OpenApiSection, given: Mapping[str, Any], understood: Understood, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    request = understood.request
    properties = arguments.get("properties")
    names = set(properties) if isinstance(properties, Mapping) else set()
    http: dict[str, Any] = {"method": request["method"], "url": section.server.rstrip("/") + request["path"]}
    for part in ("query", "headers", "form", "body"):
        if part in request:
            http[part] = _without_undeclared(request[part], names)
    if section.headers:
        http["headers"] = {**http.get("headers", {}), **section.headers}
    return http | {name: given[name] for name in _TAKEN_OVER if name in given}


def _without_undeclared(part: Any, names: set[str]) -> Any:
    """The request without the optional values that this manifest does not let a caller give."""
    if not isinstance(part, Mapping):
        return part
    return {name: given for name, given in part.items() if _arguments(given) <= names}


def _arguments(given: Any) -> set[str]:
    text = given["value"] if isinstance(given, Mapping) else given
    return {piece.path[0] for piece in parse(text) if isinstance(piece, Reference) and piece.path}


def _disagreements(understood: Understood, declared: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Where the manifest would let through what the document does not have."""
    properties = declared.get("properties")
    if not isinstance(properties, Mapping):
        properties = {}
    required = declared.get("required")
    certain = set(required) if isinstance(required, list) else set()
    certain |= {name for name, part in properties.items() if isinstance(part, Mapping) and "default" in part}
    found: list[tuple[Path, str]] = [
        (("arguments",), f"the operation needs `{name}`: declare it, required or with a default")
        for name in understood.required
        if name not in certain
    ]
    theirs, definitions = understood.arguments["properties"], understood.arguments.get("$defs", {})
    for name, part in properties.items():
        mine = types_of(part, declared.get("$defs", {}))
        wanted = types_of(theirs.get(name), definitions)
        if mine is not None and wanted is not None and not mine <= _widened(wanted):
            kinds = f"{' or '.join(sorted(mine))} here and {' or '.join(sorted(wanted))} in the document"
            found.append((("arguments", "properties", name), f"`{name}` is {kinds}"))
    return found


def _widened(types: frozenset[str]) -> frozenset[str]:
    return types | {"integer"} if "number" in types else types


def _moved(places: Mapping[Path, Any]) -> dict[Path, Any]:
    """The same places under the paths of `backend.http`, so that a complaint about it points at what was written."""
    length = len(_SECTION)
    moved = {("backend", "http", *path[length:]): place for path, place in places.items() if path[:length] == _SECTION}
    return {**places, **moved}


def _complaint(file: str, document: Document, path: Path, message: str, *, on_key: bool = False) -> Complaint:
    place = document.key_place(path) if on_key else document.place(path)
    return Complaint(
        severity=Severity.ERROR, rule="openapi", message=message, file=file, line=place.line, column=place.column
    )
