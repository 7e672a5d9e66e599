"""Addresses with holes. Scheme, host and port are fixed at load; values of a call are percent-encoded text in a
path segment or a query value, and cannot be anything else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self
from urllib.parse import quote, urlsplit

from gateway.manifest.placeholders import ABSENT, CallValues, Piece, Reference, RenderError, TemplateError, text_of

_PORTS: Final = {"http": 80, "https": 443}
_LITERAL: Final = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*")
# Decoded once more by a careless server, these would end or climb out of the segment.
_UNSAFE_IN_PATH: Final = re.compile(r"[/\\%\x00-\x1f\x7f-\x9f]")
_HALF_A_CHARACTER: Final = re.compile(r"[\ud800-\udfff]")
_BARE_NAME: Final = re.compile(r"\$([A-Z][A-Z0-9_]*)")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]*")
_CLIMBING: Final = frozenset({"", ".", ".."})

# A member's name that stays one name behind `deep_object`'s bracket.
_MEMBER: Final = re.compile(r"[A-Za-z0-9_.-]+")

Query = tuple[tuple[str, str], ...]
Style = Literal["repeat", "comma", "space", "pipe", "deep_object"]
"""How a list (or, for `deep_object`, an object) becomes parameters."""
SEPARATORS: Final[Mapping[Style, str]] = {"comma": ",", "space": " ", "pipe": "|"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTemplate:
    """Each path segment and each query part is a tuple of pieces.

    Attributes:
        origin: `scheme://host:port`.
        host: without the brackets of an IPv6 address.
        path: with its holes, as telemetry names it: `/v1/orders/{args.order_id}`.
    """

    origin: str
    host: str
    port: int
    path: str
    segments: tuple[tuple[Piece, ...], ...]
    literal_query: tuple[tuple[Piece, ...], ...] = ()

    @classmethod
    def build(cls, pieces: tuple[Piece, ...]) -> Self:
        """From pieces whose operator's values are filled in.

        Raises:
            TemplateError: no http(s) origin before the first hole, user names, fragments, or characters that have
                to be percent-encoded.
        """
        if not pieces or not isinstance(pieces[0], str):
            raise TemplateError("a URL starts with `${NAME}` or with scheme and host")
        origin, rest = _origin(pieces[0], more=len(pieces) > 1)
        for text in (rest, *pieces[1:]):
            if isinstance(text, str) and not _LITERAL.fullmatch(text):
                raise TemplateError(f"`{text}` has characters that a URL cannot have; percent-encode them")
        path, query = _cut((rest, *pieces[1:]), "?", limit=1)
        segments = _cut(path, "/")[1:]
        for segment in segments:
            if len(segment) == 1 and segment[0] in {".", ".."}:
                raise TemplateError("a path may not have `.` or `..` segments")
        parts = tuple(part for part in _cut(query, "&") if part)
        host, _, port = origin.partition("://")[2].rpartition(":")
        return cls(
            origin=origin,
            host=host.strip("[]"),
            port=int(port),
            path="".join(f"/{_with_holes(segment)}" for segment in segments) or "/",
            segments=tuple(segments),
            literal_query=parts,
        )

    @property
    def references(self) -> tuple[Reference, ...]:
        holders = (*self.segments, *self.literal_query)
        return tuple(piece for holder in holders for piece in holder if isinstance(piece, Reference))

    def render(self, values: CallValues, query: Query) -> str:
        """Path and query for one call.

        Raises:
            RenderError: a value is empty, climbs, or has characters that no path segment may have.
        """
        path = "".join(["/" + _segment(segment, values) for segment in self.segments]) or "/"
        parts = ["".join(_encoded(piece, values) for piece in part) for part in self.literal_query]
        parts += [f"{_quoted(name)}={_quoted(text)}" for name, text in query]
        return f"{path}?{'&'.join(parts)}" if parts else path


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTemplate:
    """Parameters of a query or a form by name; an argument that was not given gives none.

    Attributes:
        styles: for the names that are here, how a list or an object is written; else a list gives one parameter an item.
    """

    parameters: tuple[tuple[str, tuple[Piece, ...]], ...] = ()
    styles: Mapping[str, Style] = field(default_factory=dict)

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(piece for _, pieces in self.parameters for piece in pieces if isinstance(piece, Reference))

    def render(self, values: CallValues) -> Query:
        """Names and values, not yet encoded.

        Raises:
            RenderError: a value is no scalar and no list of scalars.
        """
        query: list[tuple[str, str]] = []
        for name, pieces in self.parameters:
            if len(pieces) == 1 and isinstance(pieces[0], Reference):
                value = pieces[0].read(values)
                query += [] if value is ABSENT else _listed(name, value, pieces[0], self.styles.get(name, "repeat"))
            else:
                query.append((name, "".join(_plain(piece, values) for piece in pieces)))
        return tuple(query)


def form_text(query: Query) -> str:
    """Names and values as an `application/x-www-form-urlencoded` body."""
    return "&".join(f"{_quoted(name)}={_quoted(text)}" for name, text in query)


def _listed(name: str, value: Any, piece: Reference, style: Style) -> Query:
    """One value as parameters. No text in it can become another item, another member or another parameter."""
    if style == "deep_object":
        return _members(name, value, piece)
    items = [_encodable(text_of(item, piece), piece) for item in (value if isinstance(value, list) else [value])]
    if style == "repeat":
        return tuple((name, item) for item in items)
    if any(SEPARATORS[style] in item for item in items):
        message = f"{piece.name} is sent as one text, with {SEPARATORS[style]!r} between its items: none may have it"
        raise RenderError(message, root=piece.root, name=piece.name)
    return ((name, SEPARATORS[style].join(items)),) if items else ()


def _members(name: str, value: Any, piece: Reference) -> Query:
    if not isinstance(value, Mapping) or not all(map(_MEMBER.fullmatch, value)):
        message = f"{piece.name} must be an object here, its names of letters, digits, `_`, `.` and `-`"
        raise RenderError(message, root=piece.root, name=piece.name)
    return tuple((f"{name}[{key}]", _encodable(text_of(item, piece), piece)) for key, item in value.items())


def _origin(text: str, *, more: bool) -> tuple[str, str]:
    """Split the fixed beginning of a URL into its origin and what follows."""
    scheme, slashes, rest = text.partition("://")
    authority = re.match(r"[^/?#\\]*", rest)
    host = authority[0] if authority else ""
    if more and scheme in _PORTS and slashes and not rest:
        raise TemplateError("no value of a call may be the host; write a host, or `${NAME}` for the operator's")
    if (bare := _BARE_NAME.match(text)) is not None:
        raise TemplateError(f"`{bare[0]}` is no address; did you mean `${{{bare[1]}}}`?")
    if scheme not in _PORTS or not slashes or not host:
        raise TemplateError("a URL starts with http:// or https:// and a host")
    remainder = rest[len(host) :]
    if more and not remainder:
        raise TemplateError("no value of a call may be part of the host; write a `/` after it")
    if "#" in remainder:
        raise TemplateError("a URL with a fragment cannot be requested")
    try:
        parts = urlsplit(f"{scheme}://{host}")
        port = parts.port or _PORTS[scheme]
    except ValueError as error:
        raise TemplateError(f"the host and port cannot be read: {error}") from error
    name = parts.hostname or ""
    if "@" in host or not re.fullmatch(r"[a-z0-9.-]+|[0-9a-f:.]+", name):
        raise TemplateError("a host is a name or an address; user names belong into headers")
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}", remainder


def _cut(pieces: tuple[Piece, ...], separator: str, limit: int = -1) -> list[tuple[Piece, ...]]:
    """Cut a sequence of pieces at the separators in its literal texts; with `limit` 1 always into two."""
    groups: list[list[Piece]] = [[]]
    for piece in pieces:
        if not isinstance(piece, str):
            groups[-1].append(piece)
            continue
        parts = piece.split(separator) if limit < 0 else piece.split(separator, limit - len(groups) + 1)
        for index, part in enumerate(parts):
            if index:
                groups.append([])
            if part:
                groups[-1].append(part)
    while len(groups) < limit + 1:
        groups.append([])
    return [tuple(group) for group in groups]


def _with_holes(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece if isinstance(piece, str) else f"{{{piece.name}}}" for piece in pieces)


def _segment(pieces: tuple[Piece, ...], values: CallValues) -> str:
    encoded = []
    last: Reference | None = None
    for piece in pieces:
        if not isinstance(piece, Reference):
            encoded.append(str(piece))
            continue
        last = piece
        text = text_of(piece.read(values), piece)
        if text in _CLIMBING or _UNSAFE_IN_PATH.search(text):
            raise _unfit(piece)
        encoded.append(_quoted(_encodable(text, piece)))
    whole = "".join(encoded)
    if last is not None and whole in _CLIMBING:
        raise _unfit(last)
    return whole


def _unfit(piece: Reference) -> RenderError:
    message = (
        f"{piece.name} is part of a path: it may not be empty, `.` or `..`, nor have /, \\, % or control characters"
    )
    return RenderError(message, root=piece.root, name=piece.name)


def _encodable(text: str, piece: Reference) -> str:
    if not text.isascii() and _HALF_A_CHARACTER.search(text):
        raise RenderError(f"{piece.name} has half a character in it", root=piece.root, name=piece.name)
    return text


def _plain(piece: Piece, values: CallValues) -> str:
    return _encodable(text_of(piece.read(values), piece), piece) if isinstance(piece, Reference) else str(piece)


def _encoded(piece: Piece, values: CallValues) -> str:
    return _quoted(_plain(piece, values)) if isinstance(piece, Reference) else str(piece)


def _quoted(text: str) -> str:
    # Most values are plain identifiers, and `quote` has to encode and decode to find that out.
    return text if _UNRESERVED.fullmatch(text) else quote(text, safe="")
