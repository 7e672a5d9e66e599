"""Frozen values at the price of plain ones.

A call makes some thirty values, a write eighty. The `__init__` of a frozen dataclass steps around its own `__setattr__` for
each field, and a class with a `__setattr__` of its own is one that the interpreter has no short way to set fields of: a
value of eight fields costs 13,700 instructions frozen and 3,700 plain (callgrind, CPython 3.11).

So these values are frozen where it is free: mypy refuses every line of ours that sets a field. At run time nothing does.
"""

from dataclasses import MISSING, Field, field, fields, make_dataclass
from typing import Any, TypeVar

_C = TypeVar("_C")


def quick(kind: type[_C]) -> type[_C]:
    """Decorate a frozen dataclass without a base; what fills it is then what fills an unfrozen one of the same fields."""
    frozen: Any = kind
    checks = {"__post_init__": frozen.__post_init__} if hasattr(frozen, "__post_init__") else {}
    plain: Any = make_dataclass(
        kind.__name__, [(it.name, it.type, _copied(it)) for it in fields(frozen)], namespace=checks
    )
    init = plain.__init__
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    init.__annotations__ = frozen.__init__.__annotations__
    frozen.__init__ = init
    del frozen.__setattr__, frozen.__delattr__
    return kind


def _copied(of: Field[Any]) -> Any:
    if of.default_factory is not MISSING:
        return field(default_factory=of.default_factory, kw_only=of.kw_only is True)
    return field(default=of.default, kw_only=of.kw_only is True)
