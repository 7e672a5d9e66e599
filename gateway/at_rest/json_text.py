"""Values as JSON, their fields by name."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final

import orjson

from gateway.at_rest.naming import teller

_OPTIONS: Final = orjson.OPT_PASSTHROUGH_DATACLASS
# By itself orjson reads a dataclass from where the interpreter keeps its fields; a compiled one keeps them elsewhere.


def json_text(document: object) -> bytes:
    """JSON of plain values, of mappings, and of dataclasses.

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
    return teller_of(kind)(value)


@cache
def teller_of(kind: Any) -> Callable[[Any], dict[str, Any]]:
    """Gives all fields of one kind of dataclass by their names."""
    # A compiled value tells its fields itself (`compiling/values.py`).
    told: Callable[[Any], dict[str, Any]] | None = getattr(kind, "__told__", None)
    return teller(field.name for field in fields(kind)) if told is None else told
