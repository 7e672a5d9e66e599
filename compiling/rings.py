"""Functions inside a function that name one another, or themselves.

mypyc keeps the variables that such functions share, and the functions that they name, in one object, and each of the functions
holds that object: a reference cycle, which only the garbage collector frees, with every variable in it. The interpreter keeps
each shared variable in a cell of its own, so that there only a function that names itself makes a cycle.
"""

import ast
from collections.abc import Iterator
from typing import Final

_FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class RingError(ValueError):
    """Functions that share what holds one of them; says where."""


def refuse_rings(source: str, path: str) -> None:
    """Let no function inside a function name another of the same function, or itself.

    Raises:
        RingError: one does.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _FUNCTION):
            inside = [each for each in _own(node) if isinstance(each, _FUNCTION)]
            named = {name for each in _own(node) for name in _functions_named_by(each)}
            for each in inside:
                name = min(named & (_loaded(each) - _bound(each)), default=None)
                if name is not None:
                    raise RingError(
                        f"{path}:{each.lineno}: compiled, `{name}` and what it shares with this function would hold each"
                        " other: make a method of one of them, or a function of the module"
                    )


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, but for what stands in the functions inside it."""
    for each in ast.iter_child_nodes(node):
        yield each
        if not isinstance(each, _FUNCTION):
            yield from _own(each)


def _functions_named_by(node: ast.AST) -> set[str]:
    """The names that a statement gives to a function."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets, value=ast.Lambda()):
            return {each.id for each in targets if isinstance(each, ast.Name)}
        case (
            ast.AnnAssign(target=ast.Name(id=name), value=ast.Lambda())
            | ast.NamedExpr(target=ast.Name(id=name), value=ast.Lambda())
        ):
            return {name}
        case _:
            return set()


def _loaded(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _bound(node: ast.AST) -> set[str]:
    """Names that are the inner function's own."""
    found = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return found | {each.id for each in _own(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
