"""A parsed document as a `ManifestSource`, or every complaint about its shape."""

import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.manifest.complaint import Complaint, Severity, did_you_mean
from gateway.manifest.fields import IN_WORDS
from gateway.manifest.mcp import backend as mcp
from gateway.manifest.model import ManifestSource
from gateway.manifest.openapi import backend as openapi
from gateway.manifest.openapi.library import Library
from gateway.manifest.yaml_events import Document, Path, Place, YamlError, parse

_WRONG_TYPES: Final[Mapping[str, str]] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a map",
    "model_type": "a map",
    "list_type": "a list",
}
# How the library begins its sentences: "Input should be …", "List should have …".
_SHOULD: Final = re.compile(r"^\w+ should\b")
_MANY: Final = (dict, list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One file as far as it could be read."""

    file: str
    text: str
    document: Document | None
    source: ManifestSource | None
    complaints: tuple[Complaint, ...]


def read(file: str, source: str | bytes, library: Library | None = None) -> Reading:
    """Parse one file and check its shape. Never raises for what is in the file.

    Args:
        file: its name, for messages.
        source: its content.
        library: the documents that `backend.openapi` may name.
    """
    text = source if isinstance(source, str) else source.decode("utf-8", "replace")
    try:
        document = parse(source)
    except YamlError as error:
        complaint = Complaint(
            severity=Severity.ERROR, rule="yaml", message=str(error), file=file, line=error.line, column=error.column
        )
        return Reading(file=file, text=text, document=None, source=None, complaints=(complaint,))
    value: Any = document.value
    complaints: list[Complaint] = []
    if openapi.has_section(value):
        document, value, found = openapi.expanded(file, document, value, library or Library())
        complaints += found
    if mcp.has_section(value):
        document, value, found = mcp.expanded(file, document, value)
        complaints += found
    model: ManifestSource | None = None
    try:
        model = ManifestSource.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        complaints += [_complaint(file, document, it) for it in details if not _excused(it, details, document)]
    return Reading(
        file=file, text=text, document=document, source=None if complaints else model, complaints=tuple(complaints)
    )


def error_at(file: str, place: Place, rule: str, message: str) -> Complaint:
    """An error at one place."""
    return Complaint(
        severity=Severity.ERROR, rule=rule, message=message, file=file, line=place.line, column=place.column
    )


def _excused(detail: ErrorDetails, details: Sequence[ErrorDetails], document: Document) -> bool:
    if detail["loc"] == ("backend", "http"):
        # A backend of another kind leaves no `http` behind, which needs no complaint beside the one about it.
        return any(("backend", kind) in document.keys for kind in ("mcp", "openapi"))
    path = _path_in(document, detail["loc"])
    # Where a text or a map may stand, an unquoted brace is not blamed for its members, nor a map for being no text.
    if _is_text_wanted(detail) and not _is_unquoted(detail):
        return any(it is not detail and _is_below(it, path, document) for it in details)
    return any(
        _is_unquoted(it) and detail is not it and _is_below(detail, _path_in(document, it["loc"]), document)
        for it in details
    )


def _is_below(detail: ErrorDetails, path: Path, document: Document) -> bool:
    return _path_in(document, detail["loc"])[: len(path)] == path


def _is_text_wanted(detail: ErrorDetails) -> bool:
    return detail["type"] == "string_type" and isinstance(detail["input"], dict)


def _is_unquoted(detail: ErrorDetails) -> bool:
    """Whether `{args.x}` was written without quotes: YAML reads a map whose one value is missing."""
    value = detail["input"]
    return _is_text_wanted(detail) and bool(value) and all(member is None for member in value.values())


def _complaint(file: str, document: Document, detail: ErrorDetails) -> Complaint:
    kind = detail["type"]
    path = _path_in(document, detail["loc"])
    if kind == "extra_forbidden":
        message = f"unknown key `{path[-1]}`; {did_you_mean(str(path[-1]), _known_keys(path[:-1]))}"
        return error_at(file, document.key_place(path), "unknown-key", message)
    if kind == "missing":
        parent = path[:-1]
        where = f" in `{'.'.join(map(str, parent))}`" if parent else ""
        place = document.key_place(parent) if parent else document.place(parent)
        return error_at(file, place, "shape", f"`{path[-1]}` is required{where}{_purpose(path)}")
    name = ".".join(str(part) for part in path) or "the manifest"
    place = document.key_place(path) if detail["loc"][-1:] == ("[key]",) else document.place(path)
    return error_at(file, place, "shape", f"{name}: {_mend(detail)}")


def _mend(detail: ErrorDetails) -> str:
    kind, value, facts = detail["type"], detail["input"], detail.get("ctx", {})
    if _is_unquoted(detail):
        return "an unquoted brace is a YAML map; quote the text"
    if kind == "string_type" and isinstance(value, int | float | bool):
        return f"this is read as {'true/false' if isinstance(value, bool) else 'a number'}; quote it"
    if kind in _WRONG_TYPES:
        return f"this must be {_WRONG_TYPES[kind]}"
    if kind == "value_error":
        return str(facts["error"])
    if kind in {"enum", "literal_error"}:
        expected = str(facts["expected"]).replace("'", "`")
        return f"this must be {expected}"
    if kind == "string_pattern_mismatch":
        words = IN_WORDS.get(facts["pattern"])
        return f"this must match {facts['pattern']}" + (f" ({words})" if words else "")
    return _SHOULD.sub("this must", str(detail["msg"]))


def _path_in(document: Document, loc: tuple[int | str, ...]) -> Path:
    """The location as the file has it: the model adds parts of its own for the branches of a union and for keys."""
    path: Path = ()
    for index, part in enumerate(loc):
        if (*path, part) in document.values or index == len(loc) - 1:
            path = (*path, part)
    if path and path not in document.values and len(path) > 1 and path[:-1] in document.values:
        return path if _is_field(path) else path[:-1]
    return path


def _is_field(path: Path) -> bool:
    return str(path[-1]) in _known_keys(path[:-1])


def _section(path: Path) -> type[BaseModel] | None:
    inside: Any = ManifestSource
    for part in path:
        model = _model_in(inside)
        if model is None:
            # The name of a member that an author chose, or an index: all of them are alike.
            inside = next((typing.get_args(it)[-1] for it in _options(inside) if typing.get_origin(it) in _MANY), None)
            continue
        found = next((field for name, field in model.model_fields.items() if (field.alias or name) == part), None)
        inside = None if found is None else found.annotation
    return _model_in(inside)


def _options(annotation: Any) -> tuple[Any, ...]:
    return typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    is_model: Callable[[Any], bool] = lambda option: isinstance(option, type) and issubclass(option, BaseModel)  # noqa: E731
    return next((option for option in _options(annotation) if is_model(option)), None)


def _known_keys(path: Path) -> list[str]:
    model = _section(path)
    return [] if model is None else [field.alias or name for name, field in model.model_fields.items()]


def _purpose(path: Path) -> str:
    model = _section(path[:-1])
    for name, field in (model.model_fields if model else {}).items():
        if (field.alias or name) == path[-1] and field.description:
            return f": {field.description}"
    return ""
