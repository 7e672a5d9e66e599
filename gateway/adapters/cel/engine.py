"""CEL by cel-expr-python: compiled twice, once against typed names to find mistakes, once to run.

Dotted names (`args.order_id`) find misspelt fields and wrong types. They are what runs, too, without their types: null
stands for what was not given, and a value is what it is, whatever its schema allows it to be. Only those that an
expression mentions are handed over: the library copies what it is given, and each name has its price.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from cel_expr_python import cel

from gateway.adapters.cel.wording import told
from gateway.manifest.ports import CompileError, EvaluationError, Expression, Name, NameType

_DYN: Final = cel.Type.DYN
_EXACT: Final[Mapping[NameType, Any]] = {
    NameType.STRING: cel.Type.STRING,
    NameType.INTEGER: cel.Type.INT,
    NameType.BOOLEAN: cel.Type.BOOL,
    NameType.LIST: cel.Type.List(_DYN),
    NameType.MAP: cel.Type.Map(cel.Type.STRING, _DYN),
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
_HAS: Final = re.compile(r"\bhas\s*\(")
_SEVEN_BITS: Final = 0x7F
_SHARING: Final = 16
_REMEMBERED: Final = 4096
_PLAIN: Final = (str, int, float, bool, type(None), list, dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Members:
    """Names that an expression mentions and whose values stand in one map.

    Attributes:
        way: from the values to the map.
        certain: each name as the expression writes it, and as the map does.
        optional: the same, of those that are null where they are not given.
    """

    way: tuple[str, ...]
    certain: tuple[tuple[str, str], ...]
    optional: tuple[tuple[str, str], ...]


class _Arena:
    """Where the library puts what it is handed and what it makes of it.

    A new one costs a quarter of three comparisons, so some evaluations share it; then all that is in it goes at once.
    """

    __slots__ = ("_arena", "_left")

    def __init__(self) -> None:
        self._left = 0

    def lend(self) -> Any:
        """One that is not full."""
        if self._left <= 0:
            self._arena, self._left = cel.Arena(), _SHARING
        self._left -= 1
        return self._arena


_ARENA: Final = _Arena()


class CelExpression:
    """One compiled expression."""

    __slots__ = ("_boolean", "_eval", "_mentioned", "source")

    def __init__(self, program: Any, source: str, *, mentioned: tuple[_Members, ...], boolean: bool) -> None:
        self.source = source
        self._eval = program.eval
        self._mentioned = mentioned
        self._boolean = boolean

    def evaluate(self, values: Mapping[str, Any]) -> Any | EvaluationError:
        """The plain value; every failure of the engine is an EvaluationError."""
        data: dict[str, Any] = {}
        try:
            for it in self._mentioned:
                held: Any = values
                for step in it.way:
                    held = held[step]
                for name, member in it.certain:
                    if member in held:
                        data[name] = held[member]
                for name, member in it.optional:
                    data[name] = held.get(member)
        except (LookupError, TypeError, AttributeError):
            data = _with_gaps(self._mentioned, values)
        try:
            # By position: the library takes names apart for an eighth of what a comparison costs.
            result = self._eval(None, data, None, _ARENA.lend())
            if self._boolean and ((value := result.value()) is True or value is False):
                # No error is a truth value; asking for the type costs as much as a small expression.
                return value
            value = result.plain_value()
        except Exception as error:  # noqa: BLE001 - the engine raises RuntimeError and others for values it cannot read
            return EvaluationError(message=_first_line(error))
        if result.type() == cel.Type.ERROR or not isinstance(value, _PLAIN):
            return EvaluationError(message=_first_line(value))
        return EvaluationError(message="the value is neither true nor false") if self._boolean else value


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
        return told(str(error), source)
    if boolean and checked.return_type() not in (cel.Type.BOOL, _DYN):
        return (CompileError(message=f"this is {checked.return_type().name()}, and must be true or false"),)
    leaves = _leaves(source, names)
    running = {name: _DYN if "." in name else _EXACT[it.type] for name, it in names.items()}
    program = cel.NewEnv(variables={**running, **dict.fromkeys(leaves, _DYN)}).compile(source)
    return CelExpression(program, source, mentioned=_mentioned(program, names, leaves), boolean=boolean)


def _leaves(source: str, names: Mapping[str, Name]) -> dict[str, tuple[str, ...]]:
    """Members of declared maps that may be mentioned (`caller.attributes.shop`), each with the way to its value.

    One too many costs nothing: it is not mentioned. Whatever else is done with a map gets the whole.
    """
    found = {}
    for name, it in names.items():
        if it.type is NameType.MAP and "." in name:
            for member in re.findall(rf"{re.escape(name)}\.([A-Za-z_]\w*)", source, re.ASCII):
                found[f"{name}.{member}"] = (*name.split(".", 1), member)
    return found


def _mentioned(program: Any, names: Mapping[str, Name], leaves: Mapping[str, tuple[str, ...]]) -> tuple[_Members, ...]:
    paths = {**{name: tuple(name.split(".", 1)) for name in names}, **leaves}
    held: dict[tuple[str, ...], tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {}
    # The checked expression names each variable that it refers to, as a field of protobuf: tag 1, length, text.
    checked = program.serialize()
    for name, (*way, member) in paths.items():
        if _refers(checked, name):
            optional = bool(way) and name in names and names[name].optional
            held.setdefault(tuple(way), ([], []))[optional].append((name, member))
    return tuple(
        _Members(way=way, certain=tuple(certain), optional=tuple(optional)) for way, (certain, optional) in held.items()
    )


def _with_gaps(mentioned: tuple[_Members, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """What there is of what is mentioned; the rest is for the expression to stumble over, if it comes that far."""
    data: dict[str, Any] = {}
    for it in mentioned:
        held: Any = values
        for step in it.way:
            held = held.get(step) if isinstance(held, Mapping) else None
        members = held if isinstance(held, Mapping) else {}
        data |= {name: members[member] for name, member in it.certain if member in members}
        data |= {name: members.get(member) for name, member in it.optional}
    return data


def _refers(checked: bytes, name: str) -> bool:
    text = name.encode()
    length, prefix = len(text), bytearray(b"\n")
    while length > _SEVEN_BITS:
        prefix.append(length & _SEVEN_BITS | 0x80)
        length >>= 7
    return bytes((*prefix, length)) + text in checked


def _first_line(error: object) -> str:
    return str(error).partition("\n")[0]
