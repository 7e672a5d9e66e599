"""The body of a downstream answer that proves Done, read as the declared result or said to be unreadable.

`read` gives the validated raw value, on which look-ups are evaluated; `view.view` then makes what a caller sees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gateway.contract.codes import ErrorCode
from gateway.contract.quick import quick
from gateway.contract.strict_json import InvalidJson, JsonFault, loads
from gateway.stages.execute.attempt.exchange import Answer

SchemaFault = Callable[[Any], str | None]
"""Says, without any of its text, where a value departs from the declared result. None: it fits."""


class Misread(StrEnum):
    """Why a result cannot be given."""

    TOO_LARGE = "it is larger than the limit"
    NOT_JSON = "it is not strict JSON"
    MAYBE_CUT = "it may have been cut short"
    NOT_DECLARED = "it is not what the tool declares"


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """The validated raw value of `data`."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """The action was carried out and its result cannot be given.

    Attributes:
        detail: for operators, gateway-owned words without any of the body's text.
    """

    misread: Misread
    detail: str

    @property
    def code(self) -> ErrorCode:
        return ErrorCode.RESULT_TOO_LARGE if self.misread is Misread.TOO_LARGE else ErrorCode.RESULT_UNREADABLE


def read(answer: Answer, *, fault: SchemaFault | None, max_bytes: int) -> Readable | Unreadable:
    """Read a body that is whole as far as the transport knows.

    An empty body is null: that fits a tool without a declared result, and one whose schema takes null. A 204 gets no
    more credit than that, because proxies answer it in place of a time-out.

    Args:
        answer: of an attempt whose outcome is Done.
        fault: the compiled result schema's verdict; None for a tool that declares no result.
        max_bytes: `limits.result_bytes`.
    """
    try:
        value = loads(answer.body, max_bytes=max_bytes) if answer.body else None
    except InvalidJson as error:
        misread = Misread.TOO_LARGE if error.fault is JsonFault.TOO_LARGE else Misread.NOT_JSON
        return Unreadable(misread=misread, detail=error.fault.value)
    if answer.close_delimited and type(value) in {int, float}:
        # 425000 and 42500 are both whole numbers: of a bare number nothing shows where the peer meant to end.
        return Unreadable(misread=Misread.MAYBE_CUT, detail="a bare number that ended with the connection")
    if fault is not None and (words := fault(value)) is not None:
        return Unreadable(misread=Misread.NOT_DECLARED, detail=words)
    return Readable(value=value)
