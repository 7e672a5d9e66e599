"""Quick values as classes that mypyc fills by itself.

`gateway.contract.quick` makes frozen values cheap for the interpreter. Compiled, such a class would stay an ordinary one: its
fields are then looked up by name, and what fills it is Python. Written out as the plain class that it is at run time, with
an `__init__`, a `__copy__` and a `__told__` of its own, it costs a twelfth. It is not frozen any more; that no
line sets a field, mypy has checked before.
"""

import ast
from typing import Final

_QUICK: Final = "quick"
_FIELD: Final = "field"


class NotAValueError(ValueError):
    """A quick class has something that this cannot write out; says where."""


def written_out(source: str, path: str) -> str:
    """The module with each of its quick values written out; every other line as it was.

    Raises:
        NotAValueError: a quick class has a base, or a field in a form that is not known here.
    """
    lines = source.splitlines(keepends=True)
    values = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef) and _is_quick(node)]
    for value in sorted(values, key=lambda node: node.lineno, reverse=True):
        if value.bases:
            raise NotAValueError(f"{path}:{value.lineno}: {value.name} has a base")
        _write_out(lines, value, path)
    return "".join(lines)


def _is_quick(node: ast.ClassDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == _QUICK for each in node.decorator_list)


def _write_out(lines: list[str], value: ast.ClassDef, path: str) -> None:
    fields = [node for node in value.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    keywords = _keyword_only(value, path)
    margin = " " * (value.col_offset + 4)
    last = value.body[-1]
    assert last.end_lineno is not None
    lines[last.end_lineno : last.end_lineno] = [
        f"\n{margin}{line}\n" for line in _methods(value, fields, keywords=keywords)
    ]
    for field in reversed(fields):
        declared = f"{margin}{ast.unparse(field.target)}: {ast.unparse(field.annotation)}{_options(field)}\n"
        lines[field.lineno - 1 : field.end_lineno] = [declared]
    first = value.decorator_list[0].lineno
    decorator = f"{' ' * value.col_offset}@dataclass(slots=True, init=False, unsafe_hash=True, kw_only={keywords})\n"
    lines[first - 1 : value.lineno - 1] = [decorator]


def _keyword_only(value: ast.ClassDef, path: str) -> bool:
    match [each for each in value.decorator_list if isinstance(each, ast.Call)]:
        case [ast.Call(func=ast.Name(id="dataclass"), keywords=options)]:
            told = {option.arg: ast.literal_eval(option.value) for option in options}
            if told in ({"frozen": True, "slots": True}, {"frozen": True, "slots": True, "kw_only": True}):
                return "kw_only" in told
    raise NotAValueError(f"{path}:{value.lineno}: {value.name} is not a frozen dataclass with slots")


def _options(field: ast.AnnAssign) -> str:
    """What of `field(…)` is not about its default."""
    match field.value:
        case ast.Call(func=ast.Name(id=str(name)), keywords=options) if name == _FIELD:
            kept = [ast.unparse(option) for option in options if option.arg not in {"default", "default_factory"}]
            return f" = {_FIELD}({', '.join(kept)})" if kept else ""
    return ""


def _methods(value: ast.ClassDef, fields: list[ast.AnnAssign], *, keywords: bool) -> list[str]:
    names = [ast.unparse(field.target) for field in fields]
    parameters = [*(["*"] if keywords else []), *(_parameter(field) for field in fields)]
    filled = [f"self.{ast.unparse(field.target)} = {_given(field)}" for field in fields]
    if any(isinstance(node, ast.FunctionDef) and node.name == "__post_init__" for node in value.body):
        filled.append("self.__post_init__()")
    copied = ", ".join(f"{f'{name}=' if keywords else ''}self.{name}" for name in names)
    told = ", ".join(f'"{name}": self.{name}' for name in names)
    return [
        f"def __init__(self, {', '.join(parameters)}) -> None: {'; '.join(filled)}",
        f'def __copy__(self) -> "{value.name}": return {value.name}({copied})',
        f"def __told__(self) -> dict[str, object]: return {{{told}}}",
    ]


def _parameter(field: ast.AnnAssign) -> str:
    name, kind = ast.unparse(field.target), ast.unparse(field.annotation)
    if field.value is None:
        return f"{name}: {kind}"
    if _factory(field) is not None:
        return f"{name}: {kind} | None = None"
    return f"{name}: {kind} = {ast.unparse(_default(field.value))}"


def _given(field: ast.AnnAssign) -> str:
    name, factory = ast.unparse(field.target), _factory(field)
    return name if factory is None else f"{factory}() if {name} is None else {name}"


def _factory(field: ast.AnnAssign) -> str | None:
    match field.value:
        case ast.Call(func=ast.Name(id=str(name)), keywords=options) if name == _FIELD:
            return next((ast.unparse(each.value) for each in options if each.arg == "default_factory"), None)
    return None


def _default(value: ast.expr) -> ast.expr:
    match value:
        case ast.Call(func=ast.Name(id=str(name)), keywords=options) if name == _FIELD:
            return next(each.value for each in options if each.arg == "default")
    return value
