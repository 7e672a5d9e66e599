"""Are the arguments complete, without extras, of the right types and in range? In that order, each told by name."""

import difflib
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from gateway.contract.codes import ErrorCode
from gateway.manifest.arguments import ArgumentFault, FaultKind
from gateway.manifest.tool import Tool
from gateway.stages.validate.verdict import Accepted, Rejected

_MOST_FAULTS: Final = 8
_MOST_OF_A_VALUE: Final = 60
_MOST_OF_A_NAME: Final = 64
_NOT_OF_A_NAME: Final = re.compile(r"[^\w.-]")

CODES: Final[Mapping[FaultKind, ErrorCode]] = {
    FaultKind.MISSING: ErrorCode.MISSING_ARGUMENTS,
    FaultKind.UNKNOWN: ErrorCode.UNKNOWN_ARGUMENTS,
    FaultKind.WRONG_TYPE: ErrorCode.WRONG_TYPE,
    FaultKind.INVALID: ErrorCode.INVALID_ARGUMENTS,
}

# What a keyword asks for, in words; {0} is its value in the schema.
_ASKS: Final[Mapping[str, str]] = {
    "minimum": "at least {0}",
    "maximum": "at most {0}",
    "exclusiveMinimum": "more than {0}",
    "exclusiveMaximum": "less than {0}",
    "multipleOf": "a multiple of {0}",
    "minLength": "at least {0} characters long",
    "maxLength": "at most {0} characters long",
    "minItems": "a list of at least {0} items",
    "maxItems": "a list of at most {0} items",
    "minProperties": "an object of at least {0} members",
    "maxProperties": "an object of at most {0} members",
    "pattern": "text that matches {0}",
    "format": "in the format {0}",
    "enum": "one of {0}",
    "const": "{0}",
    "uniqueItems": "a list without repeated items",
    "type": "of type {0}",
    "required": "complete",
    "additionalProperties": "without further members",
}


def accept(tool: Tool, arguments: Mapping[str, Any]) -> Accepted | Rejected:
    """Normalise, fill in defaults, validate."""
    prepared = tool.arguments.prepare(arguments)
    faults = tool.arguments.faults(prepared)
    if not faults:
        return Accepted(tool=tool, args=prepared)
    kind = faults[0].kind
    told = [fault for fault in faults if fault.kind is kind]
    return Rejected(
        code=CODES[kind],
        message=_MESSAGES[kind](tool, told, arguments),
        details={"faults": [_detail(tool, fault) for fault in told[:_MOST_FAULTS]]},
    )


def _missing(tool: Tool, faults: list[ArgumentFault], arguments: Mapping[str, Any]) -> str:
    names = [_path((*fault.path, name)) for fault in faults for name in fault.names]
    supplied = [name for name in tool.arguments.names if name in arguments]
    given = _list(supplied) if supplied else "none of its arguments"
    return (
        f"{tool.name} requires {_list(names)}. You supplied {given}. Supply what is missing and call {tool.name} again."
    )


def _unknown(tool: Tool, faults: list[ArgumentFault], _arguments: Mapping[str, Any]) -> str:
    sentences = []
    for fault in faults[:_MOST_FAULTS]:
        valid = _members(tool.arguments.published, fault.path)
        near = sorted({match for name in fault.names if (match := _nearest(name[:_MOST_OF_A_NAME], valid))})
        where = f" in {_path(fault.path)}" if fault.path else ""
        # Names of extras are the caller's text, and no tool has them: shown only as far as a name could be one.
        extras = _list([shown for name in fault.names if (shown := _shown_name(name))] or ["such arguments"])
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        known = f"Valid: {_list(list(valid))}." if valid else "It takes none."
        sentences.append(f"{tool.name} has no {extras}{where}. {known}{meant}")
    return f"{' '.join(sentences)} Remove or rename them and call {tool.name} again."


def _wrong(tool: Tool, faults: list[ArgumentFault], _arguments: Mapping[str, Any]) -> str:
    parts = []
    for fault in faults[:_MOST_FAULTS]:
        wanted = " or ".join(fault.expected) if isinstance(fault.expected, list | tuple) else fault.expected
        parts.append(f"{_path(fault.path)} must be {wanted}, got {_type(fault.value)}{_shown(tool, fault)}")
    return f"{'; '.join(parts)}. Correct it and call {tool.name} again."


def _invalid(tool: Tool, faults: list[ArgumentFault], _arguments: Mapping[str, Any]) -> str:
    parts = []
    for fault in faults[:_MOST_FAULTS]:
        ask = _ASKS.get(fault.keyword, "as the schema of the tool says ({0})" if fault.expected else "valid")
        if fault.names:
            ask = f"{ask} ({', '.join(filter(None, map(_shown_name, fault.names)))})"
        expected = fault.expected if isinstance(fault.expected, str) else _json(fault.expected)
        parts.append(f"{_path(fault.path) or 'the arguments'} must be {ask.format(expected)}{_got(tool, fault)}")
    return f"{'; '.join(parts)}. Correct it and call {tool.name} again."


_MESSAGES: Final[Mapping[FaultKind, Callable[[Tool, list[ArgumentFault], Mapping[str, Any]], str]]] = {
    FaultKind.MISSING: _missing,
    FaultKind.UNKNOWN: _unknown,
    FaultKind.WRONG_TYPE: _wrong,
    FaultKind.INVALID: _invalid,
}


def _detail(tool: Tool, fault: ArgumentFault) -> dict[str, Any]:
    detail: dict[str, Any] = {"path": _path(fault.path), "keyword": fault.keyword}
    if fault.names:
        detail["names"] = [shown for name in fault.names[:_MOST_FAULTS] if (shown := _shown_name(name))]
    if fault.kind is FaultKind.UNKNOWN:
        detail["valid"] = list(_members(tool.arguments.published, fault.path))
    elif fault.expected is not None:
        detail["expected"] = fault.expected
    return detail


def _members(schema: Any, path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The declared members of the object at `path`."""
    for part in path:
        schema = (
            schema.get("items" if isinstance(part, int) else "properties", {}) if isinstance(schema, Mapping) else {}
        )
        if not isinstance(part, int):
            schema = schema.get(part, {}) if isinstance(schema, Mapping) else {}
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    return tuple(properties)


def _path(path: tuple[str | int, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{_shown_name(part)}" if text else _shown_name(part)
    return text


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_FAULTS} more" if len(names) > _MOST_FAULTS else ""
    return ", ".join(names[:_MOST_FAULTS]) + more


def _shown_name(name: str) -> str:
    return _NOT_OF_A_NAME.sub("", name[:_MOST_OF_A_NAME])


# Models make the same mistakes over and over, and the comparison is most of what a refusal costs.
@lru_cache(maxsize=1024)
def _nearest(name: str, valid: tuple[str, ...]) -> str | None:
    return next(iter(difflib.get_close_matches(name, valid, n=1)), None)


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _got(tool: Tool, fault: ArgumentFault) -> str:
    shown = _shown(tool, fault)
    return f", got{shown}" if shown else ""


def _shown(tool: Tool, fault: ArgumentFault) -> str:
    """The value, if it is a short scalar and the argument is not sensitive."""
    if fault.path and fault.path[0] in tool.sensitive:
        return ""
    if isinstance(fault.value, dict | list) or fault.names:
        return ""
    text = _json(fault.value)
    return f" {text}" if len(text) <= _MOST_OF_A_VALUE else ""


def _json(value: Any) -> str:
    return json.dumps(value)
