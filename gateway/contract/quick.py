"""Frozen values at the price of plain ones.

A call makes some thirty frozen dataclasses. Their `__init__` has to step around their own `__setattr__` for each
field, which was a third of all instructions of a refused call (measured with callgrind). `quick` gives a class an
`__init__` that is one while the value is filled and another once it is whole: it fills an unfrozen twin of the same
slots and then says what it is.
"""

from dataclasses import MISSING, Field, fields
from typing import Any, Final, TypeVar

_C = TypeVar("_C")
_NOT_GIVEN: Final = object()


def quick(kind: type[_C]) -> type[_C]:
    """Decorate a dataclass that is frozen and slotted and has no base. Nothing about it changes but its price."""
    known: Any = kind
    filled = tuple(fields(known))
    names = {
        "_kind": kind,
        "_twin": type(kind.__name__, (), {"__slots__": tuple(field.name for field in filled)}),
        "_turn": object.__setattr__,
        "_NOT_GIVEN": _NOT_GIVEN,
        **{f"_default_{field.name}": field.default for field in filled},
        **{f"_make_{field.name}": field.default_factory for field in filled},
    }
    exec(_source(filled, checked=hasattr(kind, "__post_init__")), names)  # noqa: S102 - as `dataclasses` does it
    made: Any = names["__init__"]
    made.__annotations__ = known.__init__.__annotations__
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    known.__init__ = made
    return kind


def _source(filled: tuple[Field[Any], ...], *, checked: bool) -> str:
    parameters = ["self", *(_parameter(field) for field in filled if not field.kw_only)]
    by_name = [_parameter(field) for field in filled if field.kw_only]
    if by_name:
        parameters += ["*", *by_name]
    lines = [
        f"def __init__({', '.join(parameters)}):",
        " _turn(self, '__class__', _twin)",
        *(f" self.{field.name} = {_value(field)}" for field in filled),
        " self.__class__ = _kind",
    ]
    return "\n".join([*lines, " self.__post_init__()"] if checked else lines)


def _parameter(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is MISSING else f"{field.name}=_NOT_GIVEN"


def _value(field: Field[Any]) -> str:
    if field.default_factory is MISSING:
        return field.name
    return f"_make_{field.name}() if {field.name} is _NOT_GIVEN else {field.name}"
