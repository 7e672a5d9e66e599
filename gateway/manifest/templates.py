"""Requests with holes, parsed once: a method, an address, headers and a JSON body, rendered for each call.

The host comes from the manifest and the operator's environment alone; no value of a call can reach it, end a header,
or climb in a path.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from gateway.contract.keys import downstream_key, quoted_key
from gateway.contract.quick import quick
from gateway.manifest.placeholders import ABSENT, CallValues, Piece, Reference, RenderError, join, parse, text_of
from gateway.manifest.policies import DownstreamKey, KeyFormat, KeyPlace
from gateway.manifest.urls import QueryTemplate, UrlTemplate, form_text

_HEADER_TEXT: Final = frozenset(chr(code) for code in range(0x20, 0x7F)) | {"\t"}


@dataclass(frozen=True, slots=True)
class _Text:
    pieces: tuple[Piece, ...]


# A JSON value with holes: containers hold nodes, a lone hole is its Reference, a text with holes is a _Text.
_Node = Any


class ValueTemplate:
    """A JSON value with holes. A text that is one hole and nothing else keeps the JSON type of its value;
    if that is an optional argument that was not given, the member or item is left out.
    """

    __slots__ = ("_node", "references")

    def __init__(self, source: Any) -> None:
        """Parse.

        Raises:
            TemplateError: a text in it is not well-formed.
        """
        found: list[Reference] = []
        self._node: _Node = _compile(source, found)
        self.references = tuple(found)

    def render(self, values: CallValues) -> Any:
        """The value for one call; ABSENT if it is one hole without a value.

        Raises:
            RenderError: a value cannot stand where the template puts it.
        """
        return _render(self._node, values)


def _compile(source: Any, found: list[Reference]) -> _Node:
    if isinstance(source, Mapping):
        return {name: _compile(value, found) for name, value in source.items()}
    if isinstance(source, list | tuple):
        return [_compile(value, found) for value in source]
    if not isinstance(source, str):
        return source
    pieces = parse(source)
    found.extend(piece for piece in pieces if isinstance(piece, Reference))
    if len(pieces) == 1 and isinstance(pieces[0], Reference):
        return pieces[0]
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(str(piece) for piece in pieces)
    return _Text(pieces)


def _render(node: _Node, values: CallValues) -> Any:
    if isinstance(node, Reference):
        return node.read(values)
    if isinstance(node, _Text):
        return join(node.pieces, values)
    if isinstance(node, dict):
        return {name: value for name, child in node.items() if (value := _render(child, values)) is not ABSENT}
    if isinstance(node, list):
        return [value for child in node if (value := _render(child, values)) is not ABSENT]
    return node


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedRequest:
    """Exactly what is to be sent, secrets apart."""

    method: str
    origin: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderTemplate:
    name: str
    pieces: tuple[Piece, ...]

    def render(self, values: CallValues) -> str | None:
        """The value; None if it is one hole without a value.

        Raises:
            RenderError: the value has characters that a header cannot carry.
        """
        parts = []
        for piece in self.pieces:
            if not isinstance(piece, Reference):
                parts.append(str(piece))
                continue
            value = piece.read(values)
            if value is ABSENT and len(self.pieces) == 1:
                return None
            text = text_of(value, piece)
            if not _HEADER_TEXT.issuperset(text):
                message = f"{piece.name} goes into the header {self.name} and may have printable ASCII characters only"
                raise RenderError(message, root=piece.root, name=piece.name)
            parts.append(text)
        return "".join(parts).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTemplate:
    """A whole request with holes.

    Attributes:
        secret_headers: complete; no value of a call is in them. To be added when a request is sent, also to a
            stored one that is sent again, and never stored, hashed or logged.
    """

    method: str
    url: UrlTemplate
    query: QueryTemplate
    headers: tuple[HeaderTemplate, ...] = ()
    body: ValueTemplate | None = None
    form: QueryTemplate | None = None
    """Sent as `application/x-www-form-urlencoded`, in place of a JSON body."""
    downstream_key: DownstreamKey | None = None
    secret_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    place: str = field(init=False, repr=False)
    """A hash of what the operator's environment has a part in: with the manifest's digest, it says whom a request asks.
    Secrets have none: a changed one is a rotated one."""

    def __post_init__(self) -> None:
        url, form = self.url, () if self.form is None else self.form.parameters
        parts = [self.method, url.origin, url.path, _told(url.literal_query)]
        parts += [f"{name}={_told((pieces,))}" for name, pieces in (*self.query.parameters, *form)]
        parts += [f"{it.name}: {_told((it.pieces,))}" for it in self.headers]
        object.__setattr__(self, "place", hashlib.sha256(orjson.dumps(parts)).hexdigest())

    @property
    def origin(self) -> str:
        return self.url.origin

    def key_value(self, operation_key: str) -> str:
        """The key in the downstream's format, without the quotes of `format: quoted`."""
        key = self.downstream_key
        if key is None:
            return operation_key
        return downstream_key(operation_key, key_format=key.format, max_length=key.max_length)

    def render(self, values: CallValues) -> RenderedRequest:
        """The request for one call.

        Raises:
            RenderError: a value cannot stand where the template puts it. Nothing was sent.
        """
        key = self.downstream_key
        query = self.query.render(values)
        headers = [(header.name, text) for header in self.headers if (text := header.render(values)) is not None]
        body = None if self.body is None else self.body.render(values)
        form = None if self.form is None else self.form.render(values)
        if key is not None and key.in_ is KeyPlace.HEADER:
            headers.append((key.name, quoted_key(values.key) if key.format is KeyFormat.QUOTED else values.key))
        elif key is not None and key.in_ is KeyPlace.QUERY:
            query = (*query, (key.name, values.key))
        elif key is not None and key.in_ is KeyPlace.ARGUMENT:
            given = body if isinstance(body, dict) else {}
            body = {**given, "arguments": {**given.get("arguments", {}), key.name: values.key}}
        elif key is not None and form is not None:
            form = (*form, (key.name, values.key))
        elif key is not None:
            body = {**(body or {}), key.name: values.key}
        return RenderedRequest(
            method=self.method,
            origin=self.url.origin,
            target=self.url.render(values, query),
            headers=tuple(headers),
            body=_content(body) if form is None else form_text(form).encode("ascii"),
        )


def _told(parts: tuple[tuple[Piece, ...], ...]) -> str:
    return "&".join(
        "".join(f"{{{it.name}}}" if isinstance(it, Reference) else str(it) for it in part) for part in parts
    )


def _content(body: Any) -> bytes:
    if body is None or body is ABSENT:
        return b""
    try:
        return orjson.dumps(body)
    except (TypeError, ValueError) as error:
        raise RenderError("the arguments cannot be written as JSON", root="args", name="args") from error
