"""The operations of a document, as they stand in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.manifest.openapi.document import At, OpenApiError
from gateway.manifest.openapi.keywords import clean
from gateway.manifest.openapi.references import Documents, shown

METHODS: Final = ("get", "head", "post", "put", "patch", "delete")
_UNSENT: Final = ("options", "trace")
_VERSION: Final = re.compile(r"3\.[01]\.[0-9]+(-.+)?")
_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
MAX_OPERATIONS: Final = 5_000
_SUMMARY: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path.

    Attributes:
        name: what a manifest calls it: the document's `operationId`, else `METHOD /path`.
        parameters: those of the path and its own, references followed, each with its place.
        summary: the document's words, bounded.
    """

    name: str
    method: str
    path: str
    at: At
    value: Mapping[str, Any]
    parameters: tuple[tuple[Mapping[str, Any], At], ...]
    summary: str

    @property
    def tool_name(self) -> str:
        """The name as a tool may have it."""
        return _NAME.sub("_", self.name).strip("_")[:128] or "operation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An operation that cannot be imported, and why."""

    name: str
    method: str
    path: str
    error: OpenApiError


def check_version(documents: Documents) -> None:
    """Refuse what is no OpenAPI 3.0 or 3.1.

    Raises:
        OpenApiError: what it is instead.
    """
    main = documents.main
    if not isinstance(main.value, Mapping):
        raise OpenApiError("the document is not an object", At(main.name))
    if "swagger" in main.value:
        raise OpenApiError("this is Swagger 2.0; convert it to OpenAPI 3.0 first", At(main.name, ("swagger",)))
    version = main.value.get("openapi")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        said = f"`openapi: {shown(str(version))}`" if version is not None else "it has no `openapi`"
        raise OpenApiError(f"this is not OpenAPI 3.0 or 3.1: {said}", At(main.name, ("openapi",)))
    if not isinstance(main.value.get("paths", {}), Mapping):
        raise OpenApiError("`paths` is not an object", At(main.name, ("paths",)))


def operations(documents: Documents) -> Iterator[Operation | Refusal]:
    """Every operation in the document's order; those that are broken in themselves as refusals.

    Raises:
        OpenApiError: the document as a whole cannot be used.
    """
    check_version(documents)
    names: dict[str, str] = {}
    count = 0
    for path, item in documents.main.value.get("paths", {}).items():
        if path.startswith("x-"):
            continue
        at = At(documents.main.name, ("paths", path))
        try:
            found, where = _object(*documents.deref(item, at), "a path has an object of operations")
        except OpenApiError as error:
            yield Refusal(name=clean(path, 200), method="*", path=path, error=error)
            continue
        for method in (*METHODS, *_UNSENT):
            if method not in found:
                continue
            count += 1
            if count > MAX_OPERATIONS:
                raise OpenApiError(f"the document has more than {MAX_OPERATIONS} operations", at)
            yield _operation(documents, method, path, found, where, names)


def _operation(
    documents: Documents, method: str, path: str, item: Mapping[str, Any], at: At, names: dict[str, str]
) -> Operation | Refusal:
    value, here = item[method], at.below(method)
    given = value.get("operationId") if isinstance(value, Mapping) else None
    name = given if isinstance(given, str) and clean(given, 200) == given and given else f"{method.upper()} {path}"
    name = clean(name, 200)
    try:
        _object(value, here, "an operation is an object")
        _is_new(name, method, here, names)
        names[name] = f"{method.upper()} {path}"
        parameters = _parameters(documents, item, at, value, here)
    except OpenApiError as error:
        return Refusal(name=name, method=method.upper(), path=path, error=error)
    words = clean(value.get("summary"), _SUMMARY) or clean(value.get("description"), _SUMMARY)
    return Operation(
        name=name, method=method.upper(), path=path, at=here, value=value, parameters=parameters, summary=words
    )


def _object(value: Any, at: At, otherwise: str) -> tuple[Mapping[str, Any], At]:
    if not isinstance(value, Mapping):
        raise OpenApiError(otherwise, at)
    return value, at


def _is_new(name: str, method: str, at: At, names: Mapping[str, str]) -> None:
    if method in _UNSENT:
        raise OpenApiError(f"{method.upper()} is no call of a tool", at)
    if name in names:
        raise OpenApiError(f"`operationId: {name}` is at {names[name]} too", at.below("operationId"))


def _parameters(
    documents: Documents, item: Mapping[str, Any], at: At, value: Mapping[str, Any], here: At
) -> tuple[tuple[Mapping[str, Any], At], ...]:
    """Those of the operation replace those of its path with the same name and place."""
    found: dict[tuple[str, str], tuple[Mapping[str, Any], At]] = {}
    for owner, place in ((item, at), (value, here)):
        listed = owner.get("parameters", [])
        if not isinstance(listed, list):
            raise OpenApiError("`parameters` is a list", place.below("parameters"))
        for index, each in enumerate(listed):
            parameter, where = documents.deref(each, place.below("parameters", index))
            name, kind = (
                (parameter.get("name"), parameter.get("in")) if isinstance(parameter, Mapping) else (None, None)
            )
            if not isinstance(name, str) or not name or not isinstance(kind, str):
                raise OpenApiError("a parameter has a `name` and an `in`", where)
            found[(name, kind)] = (parameter, where)
    return tuple(found.values())
