"""Where something stands in a large JSON or YAML text, found when a complaint needs it.

Keeping a place for every value would cost more memory than the document; most documents get no complaint at all.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import yaml

from gateway.manifest.yaml_events import Path, Place

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+')
_NOWHERE: Final = Place(1, 1)


def places_of(text: str, paths: Iterable[Path], *, is_json: bool) -> dict[Path, Place]:
    """Where the key or item at each path begins, or its nearest ancestor. The text must have been parsed before."""
    wanted = set(paths)
    ancestors = {path[:length] for path in wanted for length in range(1, len(path) + 1)}
    walk = _json_places(text) if is_json else _yaml_places(text)
    # The first of a path is the one that counts; a parsed text has no second.
    found = {path: place for path, place in walk if path in ancestors} if ancestors else {}
    return {path: _nearest(path, found) for path in wanted}


def _nearest(path: Path, found: Mapping[Path, Place]) -> Place:
    while path and path not in found:
        path = path[:-1]
    return found.get(path, _NOWHERE)


class _Cursor:
    """The path during a walk, one level for each open container."""

    def __init__(self) -> None:
        self.levels: list[str | int | None] = []
        self.wants_key: list[bool] = []

    @property
    def path(self) -> Path:
        return tuple(level for level in self.levels if level is not None)

    @property
    def in_list(self) -> bool:
        return bool(self.wants_key) and isinstance(self.levels[-1], int)

    def open(self, *, is_list: bool) -> None:
        self.levels.append(-1 if is_list else None)
        self.wants_key.append(not is_list)

    def close(self) -> None:
        self.levels.pop()
        self.wants_key.pop()
        self.done()

    def step(self) -> None:
        """Another item of the list that is open."""
        level = self.levels[-1]
        self.levels[-1] = level + 1 if isinstance(level, int) else 0

    def key(self, name: str) -> None:
        self.levels[-1] = name
        self.wants_key[-1] = False

    def done(self) -> None:
        """A member's value has ended: the next text of a map is a key."""
        if self.wants_key and not self.in_list:
            self.wants_key[-1] = True


def _json_places(text: str) -> Iterator[tuple[Path, Place]]:
    at, line, start = _Cursor(), 1, 0
    last = 0
    for token in _TOKEN.finditer(text):
        value, offset = token[0], token.start()
        breaks = text.count("\n", last, offset)
        if breaks:
            line, start = line + breaks, text.rfind("\n", last, offset) + 1
        last = offset
        if value == ",":
            continue
        if value in "}]":
            at.close()
            continue
        place = Place(line, offset - start + 1)
        if at.wants_key and at.wants_key[-1]:
            at.key(_unescaped(value))
            yield at.path, place
            continue
        if at.in_list:
            at.step()
            yield at.path, place
        if value in "{[":
            at.open(is_list=value == "[")
        else:
            at.done()


def _unescaped(token: str) -> str:
    return str(json.loads(token)) if "\\" in token else token[1:-1]


def _yaml_places(text: str) -> Iterator[tuple[Path, Place]]:
    at = _Cursor()
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            at.close()
        elif isinstance(event, yaml.NodeEvent):
            yield from _yaml_node(at, event)


def _yaml_node(at: _Cursor, event: Any) -> Iterator[tuple[Path, Place]]:
    place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
    if at.wants_key and at.wants_key[-1]:
        at.key(str(event.value))
        yield at.path, place
        return
    if at.in_list:
        at.step()
        yield at.path, place
    if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
        at.open(is_list=isinstance(event, yaml.SequenceStartEvent))
    else:
        at.done()
