"""Values as JSON, their fields by name."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import orjson
import pytest

from gateway.at_rest.json_text import json_text


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner:
    left: int
    right: str


@dataclass(frozen=True, slots=True)
class Outer:
    inner: tuple[Inner, ...]
    colour: Colour


def test_fields_are_told_by_name_at_any_depth() -> None:
    """As orjson would tell a dataclass by itself."""
    value = Outer((Inner(1, "a"), Inner(2, "b")), Colour.RED)
    assert json_text({"it": value}) == orjson.dumps({"it": value})
    assert json_text(value) == b'{"inner":[{"left":1,"right":"a"},{"left":2,"right":"b"}],"colour":"red"}'


def test_fields_are_asked_for_and_not_looked_up_in_memory() -> None:
    """A compiled value keeps its fields where orjson would not find them: each is told as its attribute says."""

    class Other(Inner):
        left = property(lambda _: 7)

    told = object.__new__(Other)
    object.__setattr__(told, "right", "b")
    assert json_text(told) == b'{"left":7,"right":"b"}'


def test_mappings_of_any_kind_are_objects() -> None:
    """Read-only ones, too."""
    assert json_text(MappingProxyType({"a": 1})) == b'{"a":1}'


def test_anything_else_is_refused() -> None:
    """What cannot be read back is not written."""
    with pytest.raises(TypeError):
        json_text({"a": object()})
