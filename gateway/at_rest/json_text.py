"""Values as JSON, their fields by name."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, Final

import orjson

_OPTIONS: Final = orjson.OPT_PASSTHROUGH_DATACLASS
# By itself orjson reads a dataclass from where the interpreter keeps its fields; a compiled one keeps them elsewhere.


def json_text(document: object) -> bytes:
    """JSON of plain values, of mappings, and of dataclasses with two fields or more.

    Raises:
        TypeError: something in it is no JSON value.
    """
    return orjson.dumps(document, default=_plain, option=_OPTIONS)


def _plain(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if not hasattr(value, "__dataclass_fields__"):
        raise TypeError(f"{type(value).__name__} is no JSON value")
    kind: Any = type(value)
    names, told = _fields_of(kind)
    return dict(zip(names, told(value), strict=True))


@cache
def _fields_of(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    names = tuple(field.name for field in fields(kind))
    return names, attrgetter(*names)
