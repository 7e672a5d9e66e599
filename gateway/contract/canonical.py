"""Canonical JSON (RFC 8785), the bytes that every hash of the contract is made of.

Most of what is hashed holds no floats and only ASCII names; for that subset orjson with sorted keys writes the same
bytes thirty times faster. Everything else goes through `rfc8785`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson
import rfc8785

MAX_DEPTH: Final = 64
MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly (RFC 8785 appendix D)."""

# Integers are, too, within their bounds. Floats are written differently, and of dates orjson would make a string.
_WRITTEN_ALIKE: Final = frozenset({str, bool, type(None)})
_SCALARS: Final = _WRITTEN_ALIKE | {int}


class NotCanonical(ValueError):  # noqa: N818 - it names a property of the value
    """The value has no canonical form: the message says why, without any of its text."""


def canonical(value: Any) -> bytes:
    """The RFC 8785 form of plain JSON data (mappings, lists, tuples, str, int, float, bool, None).

    Raises:
        NotCanonical: an integer beyond 2^53 - 1, NaN or an infinity, a lone surrogate, a name that is no string,
            nesting over 64, or a value that JSON does not have.
    """
    if _is_shallow(value):
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)
        except TypeError:
            pass  # what is wrong with it the walk below will say
    simple = _inspect(value)
    try:
        if simple:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        return rfc8785.dumps(_plain(value))
    except rfc8785.FloatDomainError:
        raise NotCanonical("a number is NaN or infinite") from None
    except (TypeError, UnicodeEncodeError, rfc8785.CanonicalizationError):
        raise NotCanonical("a string is not valid Unicode text, or a value is not JSON") from None


def _is_shallow(value: Any) -> bool:
    """Whether it is seen without a walk that orjson writes it as RFC 8785 does, integers that are too large apart."""
    kind = type(value)
    if kind is list:
        return _SCALARS.issuperset(map(type, value))
    if kind is not dict:
        return kind in _SCALARS
    if not _has_ascii_names(value):
        return False
    if _SCALARS.issuperset(map(type, value.values())):
        return True
    # As keys are made: scalars, and an object of scalars.
    return all(
        type(member) in _SCALARS
        or (type(member) is dict and _SCALARS.issuperset(map(type, member.values())) and _has_ascii_names(member))
        for member in value.values()
    )


def _has_ascii_names(members: dict[Any, Any]) -> bool:
    try:
        return "".join(members).isascii()
    except TypeError:
        return False


def _inspect(value: Any) -> bool:
    """Refuse what has no canonical form; tell whether orjson writes the rest as RFC 8785 does."""
    simple = True
    depth = 0
    level: list[Any] = [value]
    while level:
        below: list[Any] = []
        containers = False
        for node in level:
            kind = type(node)
            if kind is int:
                if not -MAX_INTEGER <= node <= MAX_INTEGER:
                    raise NotCanonical("an integer is beyond 2^53 - 1")
            elif kind in _WRITTEN_ALIKE:
                pass
            elif kind is dict or isinstance(node, Mapping):
                containers = True
                # orjson sorts by UTF-8, RFC 8785 by UTF-16; for ASCII they agree.
                simple = _are_ascii(node) and simple and kind is dict
                below.extend(node.values())
            elif kind is list or kind is tuple:
                containers = True
                below.extend(node)
            else:
                simple = False
        depth += containers
        if depth > MAX_DEPTH:
            raise NotCanonical(f"nested deeper than {MAX_DEPTH}")
        level = below
    return simple


def _are_ascii(names: Iterable[Any]) -> bool:
    try:
        return "".join(names).isascii()
    except TypeError:
        raise NotCanonical("a name is not a string") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value
