"""An OpenAPI document as plain values. It is somebody else's text: bounded, read as data, nothing in it is carried out.

More is let through than in a manifest (aliases, integers beyond 2^53, invisible characters in descriptions), because
such documents are what services publish. What becomes part of a manifest is checked when it is taken over.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from gateway.manifest.openapi.places import places_of
from gateway.manifest.scalars import ScalarError, plain_value
from gateway.manifest.yaml_events import Path, Place

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 200
MAX_NODES: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class At:
    """A place in a set of documents: the file's name, and keys and indexes from its root."""

    file: str
    path: Path = ()

    def below(self, *more: str | int) -> "At":
        return At(self.file, (*self.path, *more))


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a document asks for and that is not taken over."""

    message: str
    at: At


class OpenApiError(ValueError):
    """Something in a document cannot be used. The message is one sentence without a full stop."""

    def __init__(self, message: str, at: At, place: Place | None = None) -> None:
        super().__init__(message)
        self.at = at
        self.place = place


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDocument:
    """One parsed file."""

    name: str
    value: Any = field(repr=False)
    text: str = field(repr=False)
    is_json: bool

    def places(self, paths: Iterable[Path]) -> dict[Path, Place]:
        """Where the key or item at each path begins, or its nearest ancestor. It costs one pass over the text."""
        return places_of(self.text, paths, is_json=self.is_json)


def parse(name: str, source: bytes) -> ApiDocument:
    """Parse JSON or YAML, whichever it is.

    Raises:
        OpenApiError: it is too large, not UTF-8, not well-formed, or nested too deep.
    """
    at = At(name)
    if len(source) > MAX_BYTES:
        raise OpenApiError(f"the document has more than {MAX_BYTES // 2**20} MiB", at)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OpenApiError("the document is not UTF-8", at) from None
    is_json = text.lstrip()[:1] == "{"
    try:
        value = _json(text) if is_json else _Yaml(text).value()
    except json.JSONDecodeError as error:
        place = Place(error.lineno, error.colno)
        raise OpenApiError(f"the document is not JSON: {error.msg.lower()}", at, place) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        found = Place(mark.line + 1, mark.column + 1) if mark else None
        raise OpenApiError(f"the document is not YAML: {error.problem or error.context}", at, found) from None
    except yaml.YAMLError as error:
        raise OpenApiError(f"the document is not YAML: {' '.join(str(error).split())}", at) from None
    except (_RefusedError, ValueError) as error:
        raise OpenApiError(str(error), at, getattr(error, "place", None)) from None
    except RecursionError:
        raise OpenApiError(f"the document is nested more than {MAX_DEPTH} deep", at) from None
    return ApiDocument(name=name, value=value, text=text, is_json=is_json)


class _RefusedError(ValueError):
    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.place = place


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once, parse_constant=_constant, parse_float=_finite)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f"an object of the document has the member `{twice[:80]}` twice")
    return members


def _constant(name: str) -> Any:
    raise _RefusedError(f"the document has {name}, which JSON does not have")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _RefusedError(f"the number {text[:40]} is too large")
    return number


class _Yaml:
    """One pass over libyaml's events. An alias is the value that its anchor stands at, never a copy."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0

    def value(self) -> Any:
        found: Any = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _RefusedError("the file has a second document", _place(event))
                found = self._node(next(self._events), 0)
        return found

    def _node(self, event: Any, depth: int) -> Any:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            what = f"nested more than {MAX_DEPTH} deep" if depth > MAX_DEPTH else f"larger than {MAX_NODES} values"
            raise _RefusedError(f"the document is {what}", _place(event))
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _RefusedError(f"the alias `{event.anchor}` has no anchor before it", _place(event))
            value, size = self._anchors[event.anchor]
            # It is one value, but whoever walks the document meets all that is in it again.
            self._nodes += size
            return value
        before = self._nodes
        value = self._content(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._nodes - before)
        return value

    def _content(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(item, depth + 1))
            return items
        if isinstance(event, yaml.MappingStartEvent):
            return self._members(depth)
        if event.style:
            return event.value
        try:
            return plain_value(event.value)
        except ScalarError:
            # A number that JSON readers do not keep: as text it bounds nothing and is no enum's value.
            return event.value

    def _members(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _RefusedError("a key of the document is not text", _place(event))
            if event.value == "<<" and not event.style:
                raise _RefusedError("the document has a merge key (`<<`); write the members out", _place(event))
            if event.value in members:
                raise _RefusedError(f"the key `{event.value[:80]}` is here twice", _place(event))
            members[event.value] = self._node(next(self._events), depth + 1)
        return members


def _place(event: Any) -> Place:
    return Place(event.start_mark.line + 1, event.start_mark.column + 1)
