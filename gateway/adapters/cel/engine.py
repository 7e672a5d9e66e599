"""CEL by cel-expr-python: compiled twice, once against typed names to find mistakes, once to run.

Dotted names (`args.order_id`) find misspelt fields and wrong types, but cannot be evaluated where they are optional;
running uses plain maps, with null for what was not given.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from cel_expr_python import cel

from gateway.manifest.ports import CompileError, EvaluationError, Expression, Name, NameType

_DYN: Final = cel.Type.DYN
_MAP: Final = cel.Type.Map(cel.Type.STRING, _DYN)
_EXACT: Final[Mapping[NameType, Any]] = {
    NameType.STRING: cel.Type.STRING,
    NameType.INTEGER: cel.Type.INT,
    NameType.BOOLEAN: cel.Type.BOOL,
    NameType.LIST: cel.Type.List(_DYN),
    NameType.MAP: _MAP,
    NameType.ANY: _DYN,
}
_NULLABLE: Final[Mapping[NameType, Any]] = {
    NameType.STRING: cel.Type("google.protobuf.StringValue"),
    NameType.INTEGER: cel.Type("google.protobuf.Int64Value"),
    NameType.BOOLEAN: cel.Type("google.protobuf.BoolValue"),
    NameType.LIST: _DYN,
    NameType.MAP: _DYN,
    NameType.ANY: _DYN,
}
_ERROR: Final = re.compile(r"^(?:.*?)ERROR: <input>:(\d+):(\d+): (.*)$", re.MULTILINE)
_HAS: Final = re.compile(r"\bhas\s*\(")
_REMEMBERED: Final = 4096
_PLAIN: Final = (str, int, float, bool, type(None), list, dict)


class CelExpression:
    """One compiled expression."""

    __slots__ = ("_absent", "_boolean", "_program", "source")

    def __init__(self, program: Any, source: str, *, absent: Mapping[str, Mapping[str, None]], boolean: bool) -> None:
        self.source = source
        self._program = program
        self._absent = absent
        self._boolean = boolean

    def evaluate(self, values: Mapping[str, Any]) -> Any | EvaluationError:
        """The plain value; every failure of the engine is an EvaluationError."""
        data = values if isinstance(values, dict) else dict(values)
        if self._absent:
            data = dict(data)
            for root, nulls in self._absent.items():
                data[root] = {**nulls, **data.get(root, {})}
        try:
            result = self._program.eval(data=data)
            value = result.plain_value()
        except Exception as error:  # noqa: BLE001 - the engine raises RuntimeError and others for values it cannot read
            return EvaluationError(message=_first_line(error))
        if value is True or value is False:
            # No error is a truth value; asking for the type costs as much as a small expression.
            return value
        if result.type() == cel.Type.ERROR or not isinstance(value, _PLAIN):
            return EvaluationError(message=_first_line(value))
        if self._boolean and not isinstance(value, bool):
            return EvaluationError(message="the value is neither true nor false")
        return value


class CelEngine:
    """The expression engine of the gateway. Equal expressions are compiled once, so that a reload costs little."""

    def __init__(self) -> None:
        self._compiled = lru_cache(maxsize=_REMEMBERED)(_compile)

    def compile(
        self, source: str, names: Mapping[str, Name], *, boolean: bool
    ) -> Expression | tuple[CompileError, ...]:
        """Compile; see `gateway.manifest.ports`."""
        return self._compiled(source, tuple(sorted(names.items(), key=itemgetter(0))), boolean)


def _compile(
    source: str,
    declared: tuple[tuple[str, Name], ...],
    boolean: bool,  # noqa: FBT001 - arguments of a cache are positional
) -> Expression | tuple[CompileError, ...]:
    names = dict(declared)
    if any("." in name for name in names) and (found := _HAS.search(source)) is not None:
        line = source.count("\n", 0, found.start()) + 1
        column = found.start() - (source.rfind("\n", 0, found.start()) + 1) + 1
        return (CompileError(message="has() is not needed: write `args.x != null`", line=line, column=column),)
    typed = {name: (_NULLABLE if it.optional else _EXACT)[it.type] for name, it in names.items()}
    try:
        checked = cel.NewEnv(variables=typed).compile(source)
    except RuntimeError as error:
        return _errors(str(error))
    if boolean and checked.return_type() not in (cel.Type.BOOL, _DYN):
        return (CompileError(message=f"this is {checked.return_type().name()}, and must be true or false"),)
    program = cel.NewEnv(variables=_running(names)).compile(source)
    return CelExpression(program, source, absent=_absent(names), boolean=boolean)


def _running(names: Mapping[str, Name]) -> dict[str, Any]:
    types: dict[str, Any] = {}
    for name, it in names.items():
        root, dot, _ = name.partition(".")
        types[root] = _MAP if dot else _EXACT[it.type]
    return types


def _absent(names: Mapping[str, Name]) -> dict[str, dict[str, None]]:
    absent: dict[str, dict[str, None]] = {}
    for name, it in names.items():
        root, dot, member = name.partition(".")
        if dot and it.optional:
            absent.setdefault(root, {})[member] = None
    return absent


def _errors(text: str) -> tuple[CompileError, ...]:
    found = tuple(
        CompileError(message=match[3].replace(" (in container '')", ""), line=int(match[1]), column=int(match[2]))
        for match in _ERROR.finditer(text)
    )
    return found or (CompileError(message=_first_line(text)),)


def _first_line(error: object) -> str:
    return str(error).partition("\n")[0]
