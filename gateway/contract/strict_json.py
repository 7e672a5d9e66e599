"""JSON as it may come in from outside: what one reader could take for one thing and another for something else is refused.

orjson reads it (and refuses bad UTF-8, lone surrogates, NaN, infinities, trailing data); one pass over the value
bounds it; the slow standard-library pass runs only when a duplicate name or an oversized integer cannot be ruled out.
"""

import json
from enum import StrEnum
from typing import Any, Final, Never

import orjson

from gateway.contract.canonical import MAX_DEPTH, MAX_INTEGER

MAX_NODES: Final = 100_000
_MAX_INTEGER_DIGITS: Final = 16
# Faster than a pattern: write every digit as 0 and look for sixteen of them.
_DIGITS_AS_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER: Final = b"0" * _MAX_INTEGER_DIGITS


class JsonFault(StrEnum):
    """Why a document is refused, and the words for it."""

    TOO_LARGE = "it is larger than the limit"
    EMPTY = "it is empty"
    SYNTAX = "it is not valid JSON in UTF-8"
    TOO_DEEP = "it is nested too deeply"
    TOO_MANY_NODES = "it holds too many values"
    INTEGER_RANGE = "an integer is beyond 2^53 - 1"
    NUMBER_RANGE = "a number is not finite"
    DUPLICATE_NAME = "an object has the same name twice"


class InvalidJson(ValueError):  # noqa: N818 - named as its error code
    """The document is refused. Its message never holds any of the document's text.

    Attributes:
        fault: why.
    """

    def __init__(self, fault: JsonFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


def loads(document: bytes, *, max_bytes: int, max_depth: int = MAX_DEPTH, max_nodes: int = MAX_NODES) -> Any:
    """The value of one strict JSON document.

    `max_depth` counts nested objects and arrays, `max_nodes` all values.

    Raises:
        InvalidJson: for anything else than exactly one valid, unambiguous, bounded value.
    """
    if len(document) > max_bytes:
        raise InvalidJson(JsonFault.TOO_LARGE)
    if not document or document.isspace():
        raise InvalidJson(JsonFault.EMPTY)
    try:
        value = orjson.loads(document)
    except orjson.JSONDecodeError as error:
        raise InvalidJson(_fault_of(error)) from None
    doubtful = _may_exceed(document, max_depth, max_nodes) and _exceeds(value, max_depth, max_nodes)
    if doubtful or not _is_free_of_duplicates(document, value):
        _check_slowly(document)
    return value


def _fault_of(error: orjson.JSONDecodeError) -> JsonFault:
    if "depth" in error.msg:
        return JsonFault.TOO_DEEP
    return JsonFault.NUMBER_RANGE if "infinity" in error.msg else JsonFault.SYNTAX


def _may_exceed(document: bytes, max_depth: int, max_nodes: int) -> bool:
    """Whether the bytes leave room for too many values, too deep nesting, or an integer of sixteen digits."""
    return (
        len(document) // 2 + 1 > max_nodes
        or document.count(b"[") + document.count(b"{") > max_depth
        # `in` would first try the bytes as a number, which costs more than the search.
        or document.translate(_DIGITS_AS_ZEROS).find(_LONG_NUMBER) >= 0
    )


def _exceeds(value: Any, max_depth: int, max_nodes: int) -> bool:
    """Refuse what is over the bounds; tell whether a float may have been an integer too large to keep."""
    nodes = depth = 0
    doubtful = False
    level: list[Any] = [value]
    while level:
        nodes += len(level)
        if nodes > max_nodes:
            raise InvalidJson(JsonFault.TOO_MANY_NODES)
        below: list[Any] = []
        containers = False
        for node in level:
            kind = type(node)
            if kind is dict:
                containers = True
                below.extend(node.values())
            elif kind is list:
                containers = True
                below.extend(node)
            elif kind is int and not -MAX_INTEGER <= node <= MAX_INTEGER:
                raise InvalidJson(JsonFault.INTEGER_RANGE)
            elif kind is float and not -MAX_INTEGER <= node <= MAX_INTEGER:
                doubtful = True
        depth += containers
        if depth > max_depth:
            raise InvalidJson(JsonFault.TOO_DEEP)
        level = below
    return doubtful


def _is_free_of_duplicates(document: bytes, value: Any) -> bool:
    """True: proved that no object has the same name twice. False: the slow pass must tell.

    Every name is followed by one colon, and every other colon stands in a string. A parsed value that lacks a name
    (the reader kept only the last of two) lacks its colon, and those of the strings that went with it. So, unless
    colons are written as escapes, the counts agree exactly when nothing was lost.
    """
    try:
        if orjson.dumps(value) == document:
            # Written without spaces, as most senders do: what was lost would be missing here.
            return True
    except orjson.JSONEncodeError:
        pass  # nested deeper than orjson writes
    names = 0
    nodes: list[Any] = [value]
    for node in nodes:  # grows while it is walked
        kind = type(node)
        if kind is dict:
            names += len(node)
            nodes.extend(node.values())
        elif kind is list:
            nodes.extend(node)
    colons = document.count(b":")
    if colons == names:
        return True
    if b"\\u003" in document:
        return False
    return colons == names + _colons_in_strings(nodes)


def _colons_in_strings(nodes: list[Any]) -> int:
    colons = 0
    for node in nodes:
        kind = type(node)
        if kind is str:
            colons += node.count(":")
        elif kind is dict:
            colons += "".join(node).count(":")
    return colons


def _check_slowly(document: bytes) -> None:
    try:
        json.loads(document, object_pairs_hook=_unique, parse_int=_bounded, parse_constant=_refuse_constant)
    except RecursionError:
        raise InvalidJson(JsonFault.TOO_DEEP) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidJson(JsonFault.DUPLICATE_NAME)
    return members


def _bounded(literal: str) -> int:
    if len(literal.lstrip("-")) > _MAX_INTEGER_DIGITS or abs(int(literal)) > MAX_INTEGER:
        raise InvalidJson(JsonFault.INTEGER_RANGE)
    return 0


def _refuse_constant(_: str) -> Never:
    raise InvalidJson(JsonFault.NUMBER_RANGE)
