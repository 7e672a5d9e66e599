"""Plain scalars by the YAML 1.2 core schema: `no` and `12:30` are texts, `0x1F` is a number."""

import math
import re
from typing import Final

from gateway.contract.canonical import MAX_INTEGER

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_NUMBER_KEY: Final = re.compile(r"0|[1-9][0-9]{0,15}")


class ScalarError(ValueError):
    """A plain scalar that has no JSON value."""


def plain_value(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar.

    Raises:
        ScalarError: a number that JSON does not have or that loses digits in it.
    """
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        number = int(text, 0) if text[:2] in {"0o", "0x"} else _decimal(text)
        if abs(number) > MAX_INTEGER:
            raise ScalarError("an integer beyond 2^53 - 1 loses digits; quote it to make it text")
        return number
    if _NOT_FINITE.fullmatch(text):
        raise ScalarError("JSON has no infinity and no NaN; quote it to make it text")
    if _FLOAT.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            raise ScalarError("this number is too large; quote it to make it text")
        return value
    return text


def _decimal(text: str) -> int:
    # int() refuses thousands of digits with an error of its own; none of them is within it anyway.
    return int(text) if len(text) <= 32 else MAX_INTEGER + 1


def key_text(text: str) -> str:
    """The text of an unquoted key. Whole numbers (`503:`) are the text that JSON would have as their key.

    Raises:
        ScalarError: the key would be null, a boolean or another number.
    """
    if _NUMBER_KEY.fullmatch(text) or isinstance(plain_value(text), str):
        return text
    raise ScalarError(f'a key must be text; quote it: "{text}"')
