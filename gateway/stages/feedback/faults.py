"""What is wrong with arguments, in words: expected, got, and the name that was probably meant.

Values that did not pass validation are not repeated, apart from plain numbers: they are not yet known to be harmless.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gateway.manifest.arguments import ArgumentFault, FaultKind
from gateway.stages.feedback.words import MAX_NAMES, given_name, listed, nearest, written

MAX_FAULTS: Final = 5

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


def describe(faults: Sequence[ArgumentFault], *, tool: str, sensitive: frozenset[str]) -> str:
    """Sentences about faults of one kind. At least one must be given."""
    return _KINDS[faults[0].kind](faults, tool, sensitive)


def place(path: tuple[str | int, ...]) -> str:
    """`lines[0].sku`; nothing for the arguments themselves."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{given_name(part)}"
    return text.removeprefix(".")


def _missing(faults: Sequence[ArgumentFault], tool: str, _: frozenset[str]) -> str:
    missing = [_member(fault.path, name) for fault in faults for name in fault.names]
    supplied = sorted(given_name(name) for name in faults[0].value) if isinstance(faults[0].value, Mapping) else []
    where = "" if not faults[0].path else f" in {place(faults[0].path)}"
    return f"{tool} requires {listed(missing)}. You supplied {listed(supplied) if supplied else 'nothing'}{where}."


def _unknown(faults: Sequence[ArgumentFault], tool: str, _: frozenset[str]) -> str:
    strangers = [(fault, name) for fault in faults for name in fault.names]
    extra = [_member(fault.path, given_name(name)) for fault, name in strangers]
    words = f"{tool} has no {'argument' if len(extra) == 1 else 'arguments'} {listed(extra, joined_by='or')}."
    # A caller may send thousands of names, and each comparison costs.
    for fault, name in strangers[:MAX_FAULTS]:
        if (near := nearest(name, fault.expected)) is not None:
            words += f" For {given_name(name)} you may mean {near}."
    where, declared = place(faults[0].path), faults[0].expected
    if not declared:
        return f"{words} {where} takes no members." if where else f"{words} It takes no arguments."
    return f"{words} Valid{f' in {where}' if where else ''}: {listed(sorted(declared))}."


def _wrong_type(faults: Sequence[ArgumentFault], _: str, __: frozenset[str]) -> str:
    return _each(
        [
            f"{_value(fault)} must be {listed(sorted(fault.expected), joined_by='or')}, got {_type(fault.value)}"
            for fault in faults
        ]
    )


def _invalid(faults: Sequence[ArgumentFault], _: str, sensitive: frozenset[str]) -> str:
    return _each([f"{_value(fault)} {_rule(fault)}{_got(fault, sensitive)}" for fault in faults])


_KINDS: Final[Mapping[FaultKind, Callable[[Sequence[ArgumentFault], str, frozenset[str]], str]]] = {
    FaultKind.MISSING: _missing,
    FaultKind.UNKNOWN: _unknown,
    FaultKind.WRONG_TYPE: _wrong_type,
    FaultKind.INVALID: _invalid,
}


def _each(clauses: Sequence[str]) -> str:
    left = len(clauses) - MAX_FAULTS
    return "; ".join(clauses[:MAX_FAULTS]) + (f"; {left} more left out." if left > 0 else ".")


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
    return f"{place(path)}.{name}" if path else name


def _value(fault: ArgumentFault) -> str:
    return place(fault.path) or "the arguments"
