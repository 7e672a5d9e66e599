"""The types of single manifest fields, for the model and for the JSON Schema that editors use."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from gateway.manifest.policies import Rate
from gateway.manifest.units import DURATION_PATTERN, RATE_PATTERN, SIZE_PATTERN, duration_s, rate, size_bytes

_DURATION: Final = {"type": "string", "pattern": DURATION_PATTERN, "examples": ["250ms", "5s", "2h", "30d"]}
_SIZE: Final = {"type": "string", "pattern": SIZE_PATTERN, "examples": ["64KiB"]}
_RATE: Final = {"type": "string", "pattern": RATE_PATTERN, "examples": ["50/s"]}

MOST_RATES: Final = 4
LARGEST_BODY: Final = 16 * 1024 * 1024


def _positive_s(text: Any) -> float:
    seconds = duration_s(text)
    if seconds == 0:
        raise ValueError("this duration must be longer than nothing")
    return seconds


def _body_bytes(text: Any) -> int:
    size = size_bytes(text)
    if not 1 <= size <= LARGEST_BODY:
        raise ValueError("a body is bounded by 1B at least and 16MiB at most")
    return size


def _identity_fields(value: Any) -> Any:
    if value in ("all", "caller"):
        return value
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError("write a list of argument names, or `all`, or `caller`")


def _rates(value: Any) -> tuple[Rate, ...]:
    if isinstance(value, list):
        if not 1 <= len(value) <= MOST_RATES:
            raise ValueError(f"write one rate, or a list of up to {MOST_RATES}: [50/s, 5000/d]")
        return tuple(rate(one) for one in value)
    # The default, which is no text.
    return () if value == () else (rate(value),)


IdentityFields = Annotated[
    tuple[str, ...] | Literal["all", "caller"],
    BeforeValidator(_identity_fields),
    WithJsonSchema(
        {"oneOf": [{"type": "array", "items": {"type": "string"}, "minItems": 1}, {"enum": ["all", "caller"]}]}
    ),
]
Duration = Annotated[float, BeforeValidator(duration_s), WithJsonSchema(_DURATION)]
"""Seconds, zero allowed."""
PositiveDuration = Annotated[float, BeforeValidator(_positive_s), WithJsonSchema(_DURATION)]
"""Seconds."""
BodySize = Annotated[int, BeforeValidator(_body_bytes), WithJsonSchema(_SIZE)]
"""Bytes."""
CallRates = Annotated[
    tuple[Rate, ...],
    BeforeValidator(_rates),
    WithJsonSchema({"oneOf": [_RATE, {"type": "array", "items": _RATE, "minItems": 1, "maxItems": MOST_RATES}]}),
]

_WORD: Final = r"^[A-Za-z0-9][A-Za-z0-9_.:@/-]{0,127}$"
_LINE: Final = r"^[^\r\n]*$"
_DATE: Final = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
_TOOL_NAME: Final = r"^[A-Za-z0-9_.-]{1,128}$"
_HOLD_NAME: Final = r"^[a-z][a-z0-9_]{0,63}$"
_RULE_NAME: Final = r"^[a-z_]{1,64}$"
IN_WORDS: Final[Mapping[str, str]] = {
    _WORD: "one word, of letters, digits and `_.:@/-`; there are no wildcards",
    _LINE: "one line",
    _DATE: "a date, as 2026-11-29",
    _TOOL_NAME: "a name of letters, digits and `_.-`",
    _HOLD_NAME: "a name of small letters, digits and `_`",
    _RULE_NAME: "a name of small letters and `_`",
}
"""What a pattern asks for, where its own signs do not say it to everybody."""

ToolName = Annotated[str, Field(pattern=_TOOL_NAME)]
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}$")]
Word = Annotated[str, Field(pattern=_WORD)]
"""An owner, a permission, a scope, a unit."""
HoldName = Annotated[str, Field(pattern=_HOLD_NAME)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")]
DocumentName = Annotated[
    str, Field(max_length=200, pattern=r"^([A-Za-z0-9_-][A-Za-z0-9_.-]*/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*$")
]
"""Relative to the manifest directory, and never out of it."""
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
RpcKey = Annotated[str, Field(pattern=r"^-?[1-9][0-9]{0,9}$")]
"""The code of a JSON-RPC error, as a key."""
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
"""Of a process's environment."""
Server = Annotated[
    str,
    Field(
        max_length=2048, pattern=r"^(\$\{[A-Z][A-Z0-9_]*\}|https?://[^\s{}/?#@]+)(/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*/?$"
    ),
]
"""Nothing of a call may be in it."""
Date = Annotated[str, Field(pattern=_DATE)]
Line = Annotated[str, Field(min_length=1, max_length=200, pattern=_LINE)]
Sentence = Annotated[str, Field(min_length=1, max_length=500, pattern=_LINE)]
Text = Annotated[str, Field(min_length=1, max_length=8192)]
Source = Annotated[str, Field(min_length=1, max_length=2048)]
"""A template or an expression."""
RuleName = Annotated[str, Field(pattern=_RULE_NAME)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Status = Annotated[int, Field(ge=200, le=599)]
StatusKey = Annotated[str, Field(pattern=r"^[2-5][0-9][0-9]$")]
