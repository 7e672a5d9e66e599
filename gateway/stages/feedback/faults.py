"""What is wrong with arguments, in words: expected, got, and the name that was probably meant.

Values that did not pass validation are not repeated, apart from plain numbers: they are not yet known to be harmless.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gateway.manifest.arguments import ArgumentFault, FaultKind
from gateway.stages.feedback.words import MAX_NAMES, given_name, listed, nearest, written

_MAX_FAULTS: Final = 5

_RULES: Final[Mapping[str, str]] = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} members",
    "maxProperties": "must have at most {} members",
    "uniqueItems": "must not hold the same item twice",
    "pattern": "must match {}",
    "format": "must be a {}",
    "enum": "must be one of {}",
    "const": "must be {}",
}
_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def describe(faults: Sequence[ArgumentFault], *, tool: str, names: Sequence[str], sensitive: frozenset[str]) -> str:
    """Sentences about the faults of the first kind. At least one fault must be given."""
    kind = faults[0].kind
    same = [fault for fault in faults if fault.kind is kind]
    return _KINDS[kind](same, tool, names, sensitive)


def _missing(faults: Sequence[ArgumentFault], tool: str, _: Sequence[str], __: frozenset[str]) -> str:
    missing = [_member(fault.path, name) for fault in faults for name in fault.names]
    supplied = sorted(given_name(name) for name in faults[0].value) if isinstance(faults[0].value, Mapping) else []
    where = "" if not faults[0].path else f" in {_place(faults[0].path)}"
    return f"{tool} requires {listed(missing)}. You supplied {listed(supplied) if supplied else 'nothing'}{where}."


def _unknown(faults: Sequence[ArgumentFault], tool: str, names: Sequence[str], _: frozenset[str]) -> str:
    extra = [_member(fault.path, given_name(name)) for fault in faults for name in fault.names]
    words = f"{tool} has no {'argument' if len(extra) == 1 else 'arguments'} {listed(extra, joined_by='or')}."
    if any(fault.path for fault in faults):
        return words
    meant = {name: near for fault in faults for name in fault.names if (near := nearest(name, names)) is not None}
    for name, near in list(meant.items())[:_MAX_FAULTS]:
        words += f" For {given_name(name)} you may mean {near}."
    return f"{words} Valid: {listed(sorted(names))}." if names else f"{words} It takes no arguments."


def _wrong_type(faults: Sequence[ArgumentFault], _: str, __: Sequence[str], ___: frozenset[str]) -> str:
    return _each(
        [
            f"{_place(fault.path)} must be {listed(sorted(fault.expected), joined_by='or')}, got {_type(fault.value)}"
            for fault in faults
        ]
    )


def _invalid(faults: Sequence[ArgumentFault], _: str, __: Sequence[str], sensitive: frozenset[str]) -> str:
    return _each([f"{_place(fault.path)} {_rule(fault)}{_got(fault, sensitive)}" for fault in faults])


_KINDS: Final[Mapping[FaultKind, Callable[[Sequence[ArgumentFault], str, Sequence[str], frozenset[str]], str]]] = {
    FaultKind.MISSING: _missing,
    FaultKind.UNKNOWN: _unknown,
    FaultKind.WRONG_TYPE: _wrong_type,
    FaultKind.INVALID: _invalid,
}


def _each(clauses: Sequence[str]) -> str:
    left = len(clauses) - _MAX_FAULTS
    return "; ".join(clauses[:_MAX_FAULTS]) + (f"; {left} more left out." if left > 0 else ".")


def _rule(fault: ArgumentFault) -> str:
    if fault.keyword == "type" and isinstance(fault.expected, list):
        return f"must be {listed(sorted(fault.expected), joined_by='or')}"
    if fault.keyword in {"required", "additionalProperties"} and fault.names:
        verb = "requires" if fault.keyword == "required" else "has no"
        return f"{verb} {listed([given_name(name) for name in fault.names])}"
    rule = _RULES.get(fault.keyword)
    if rule is None:
        return f"does not satisfy {fault.keyword} of its schema"
    return rule.format(_expected(fault.expected))


def _expected(expected: Any) -> str:
    if isinstance(expected, list):
        shown = [written(value) for value in expected[:MAX_NAMES]]
        return ", ".join(shown) + (f" and {len(expected) - MAX_NAMES} more" if len(expected) > MAX_NAMES else "")
    return expected if isinstance(expected, str) else written(expected)


def _got(fault: ArgumentFault, sensitive: frozenset[str]) -> str:
    # A number holds no instruction; of a text only its length is told, and of a sensitive argument nothing.
    if fault.path and fault.path[0] in sensitive:
        return ""
    if type(fault.value) in {int, float}:
        return f", got {written(fault.value)}"
    if fault.keyword in {"minLength", "maxLength"} and isinstance(fault.value, str):
        return f", got {len(fault.value)}"
    if fault.keyword in {"minItems", "maxItems"} and isinstance(fault.value, list):
        return f", got {len(fault.value)}"
    return ""


def _type(value: Any) -> str:
    return _TYPES.get(type(value), "another type")


def _member(path: tuple[str | int, ...], name: str) -> str:
    return f"{_place(path)}.{name}" if path else name


def _place(path: tuple[str | int, ...]) -> str:
    place = ""
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f".{given_name(part)}"
    return place.removeprefix(".") or "the arguments"
