"""YAML 1.2 core schema from libyaml's events: plain values, and the place of every key and value.

What a reader of the file could be deceived by is refused: anchors, aliases, merge keys, tags, directives, duplicate
keys, further documents, keys that are not text, invisible characters. JSON is YAML.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from gateway.manifest.scalars import ScalarError, key_text, plain_value

MAX_CHARACTERS: Final = 262_144
MAX_DEPTH: Final = 64
MAX_NODES: Final = 20_000
# One retry of the parser for each quoted text that has surrogate pairs in it.
_MAX_TEXTS_WITH_PAIRS: Final = 64

# Controls, line breaks that only YAML 1.1 knows, byte order marks, and marks that turn the direction of the text.
_INVISIBLE: Final = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_PAIR: Final = re.compile(r"\\(?:u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})|.)", re.DOTALL)

Path = tuple[str | int, ...]


class YamlError(ValueError):
    """The text is refused. Line and column are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Place:
    """Where something begins, 1-based. `style` is the scalar's quote or block mark, empty if it has none."""

    line: int
    column: int
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed file.

    Attributes:
        value: dict, list, str, int, float, bool and None only.
        values: path -> where the value begins. The root's path is `()`.
        keys: path -> where the key of that member begins.
    """

    value: Any
    values: Mapping[Path, Place]
    keys: Mapping[Path, Place]

    def place(self, path: Path) -> Place:
        """Where the value at `path` begins; for a path that is not in the file, its nearest ancestor."""
        while path not in self.values:
            path = path[:-1]
        return self.values[path]

    def key_place(self, path: Path) -> Place:
        """Where the key of the member at `path` begins; for a list item, the item."""
        return self.keys.get(path) or self.place(path)


def parse(source: str | bytes) -> Document:
    """Parse one file.

    Raises:
        YamlError: the text is not well-formed, or has in it what is refused.
    """
    text = _decoded(source)
    if len(text) > MAX_CHARACTERS:
        raise YamlError(f"the file has more than {MAX_CHARACTERS} characters", 1, 1)
    if (invisible := _INVISIBLE.search(text)) is not None:
        line, column = _place_of(text, invisible.start())
        shown = f"U+{ord(invisible.group()[0]):04X}"
        raise YamlError(f"the invisible character {shown}; remove it or write it as an escape", line, column)
    shifts: dict[int, list[int]] = {}
    for _ in range(_MAX_TEXTS_WITH_PAIRS):
        try:
            return _Builder(text, shifts).document()
        except yaml.MarkedYAMLError as error:
            text = _with_joined_pairs(text, shifts, error)
    raise YamlError("too many texts with surrogate pairs; write the characters themselves", 1, 1)


def _decoded(source: str | bytes) -> str:
    if isinstance(source, str):
        return source.removeprefix("\ufeff")
    try:
        return source.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = source[: error.start].decode("utf-8")
        raise YamlError("the file is not UTF-8", *_place_of(before, len(before))) from error


def _place_of(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _with_joined_pairs(text: str, shifts: dict[int, list[int]], error: yaml.MarkedYAMLError) -> str:
    """JSON writes characters beyond U+FFFF as two escapes, which libyaml refuses: join those of the text at hand.

    Raises:
        YamlError: the parser stopped for another reason.
    """
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    start = sum(len(row) + 1 for row in text.split("\n")[:line]) + column
    backslash = text.rfind("\\", max(0, start - 2), start + 1)
    escape = _PAIR.match(text, backslash) if backslash >= 0 else None
    if "Unicode" not in str(error.problem) or escape is None or escape[1] is None:
        place = _shifted(line, column, shifts)
        raise YamlError(_mend(error, text[start : start + 1]), *place) from error
    at = backslash
    while at < len(text) and text[at] != '"':
        escape = _PAIR.match(text, at)
        if escape is not None and escape[1] is not None:
            code = 0x10000 + ((int(escape[1], 16) - 0xD800) << 10) + int(escape[2], 16) - 0xDC00
            text = f"{text[:at]}\\U{code:08X}{text[escape.end() :]}"
            row, found = _place_of(text, at)
            shifts.setdefault(row - 1, []).append(found - 1)
            at += 10
        else:
            at = escape.end() if escape is not None else at + 1
    return text


def _shifted(line: int, column: int, shifts: Mapping[int, list[int]]) -> tuple[int, int]:
    """1-based place in the original text: each joined pair before it was two characters longer there."""
    return line + 1, column + 1 + 2 * sum(1 for at in shifts.get(line, ()) if at < column)


def _mend(error: yaml.MarkedYAMLError, at: str) -> str:
    problem = str(error.problem or error.context or "cannot be read")
    if at == "\t":
        return "a tab indents nothing in YAML; use spaces"
    if "Unicode" in problem:
        return "this escape is half a character or none; write the character itself"
    if "anchor" in problem or "alias" in problem:
        return "anchors and aliases are refused; write the value out"
    return f"this is not YAML: {problem}"


def _shared(value: Any) -> Any:
    """The value. Manifests say the same words over and over (`string`, `object`): a text is one object in all of them."""
    return sys.intern(value) if isinstance(value, str) else value


class _Builder:
    """Values and places from one pass over the events."""

    def __init__(self, text: str, shifts: Mapping[int, list[int]]) -> None:
        self._text = text
        self._shifts = shifts
        self._nodes = 0
        self._values: dict[Path, Place] = {}
        self._keys: dict[Path, Place] = {}

    def document(self) -> Document:
        events: Iterator[Any] = iter(yaml.parse(self._text, Loader=yaml.CSafeLoader))
        value: Any = None
        documents = 0
        for event in events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            documents += 1
            if event.version or event.tags:
                raise self._refusal("directives are refused; the file is YAML 1.2 without them", event)
            if documents > 1:
                raise self._refusal("a second document; one file is one manifest", event)
            value = self._node(next(events), events, (), 0)
        if not documents:
            raise YamlError("the file is empty", 1, 1)
        return Document(value=value, values=self._values, keys=self._keys)

    def _refusal(self, message: str, event: Any) -> YamlError:
        return YamlError(message, *_shifted(event.start_mark.line, event.start_mark.column, self._shifts))

    def _place(self, event: Any) -> Place:
        line, column = _shifted(event.start_mark.line, event.start_mark.column, self._shifts)
        return Place(line, column, getattr(event, "style", None) or "")

    def _check(self, event: Any, depth: int) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._refusal("anchors and aliases are refused; write the value out", event)
        if event.tag is not None:
            raise self._refusal("tags are refused; write the plain value", event)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._refusal(f"more than {MAX_NODES} values in one file", event)
        if depth > MAX_DEPTH:
            raise self._refusal(f"nested more than {MAX_DEPTH} deep", event)

    def _node(self, event: Any, events: Iterator[Any], path: Path, depth: int) -> Any:
        self._check(event, depth)
        self._values[path] = self._place(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events, path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(item := next(events), yaml.SequenceEndEvent):
                items.append(self._node(item, events, (*path, len(items)), depth + 1))
            return items
        try:
            return _shared(event.value if event.style else plain_value(event.value))
        except ScalarError as error:
            raise self._refusal(str(error), event) from error

    def _mapping(self, events: Iterator[Any], path: Path, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._key(event, depth + 1)
            if key in members:
                first = self._keys[(*path, key)]
                raise self._refusal(f"`{key}` is here twice; the first is in line {first.line}", event)
            self._keys[(*path, key)] = self._place(event)
            members[key] = self._node(next(events), events, (*path, key), depth + 1)
        return members

    def _key(self, event: Any, depth: int) -> str:
        self._check(event, depth)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refusal("a key must be text", event)
        text = sys.intern(event.value)
        if event.style:
            return text
        if text == "<<":
            raise self._refusal("merge keys are refused; write the members out", event)
        try:
            return key_text(text)
        except ScalarError as error:
            raise self._refusal(str(error), event) from error
