"""Handlers that wait, as code that waits after its handler has ended.

The interpreter keeps the exception that is being handled for each coroutine apart; all that mypyc has compiled share one
place for it. One that waits inside `except` leaves its exception there, where another that runs meanwhile may raise it, or find
it when it asks which one is being handled; a `finally` that waits raises whatever stands there when it ends. So what a handler
does is moved behind its `try`, and a `finally` that waits is refused.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

_WAITING: Final = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Yield, ast.YieldFrom)
_OTHER_FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class WaitsError(ValueError):
    """It waits where a compiled coroutine must not; says where."""


def moved_behind(source: str, path: str) -> str:
    """The module with each handler that waits moved behind its `try`; other lines as they were.

    Raises:
        WaitsError: a `finally` waits, or a handler that waits asks for the exception without its name.
    """
    lines = source.splitlines(keepends=True)
    found = [node for node in _outermost(ast.parse(source).body) if isinstance(node, ast.Try)]
    for node in sorted(found, key=lambda each: each.lineno, reverse=True):
        assert node.end_lineno is not None
        moved = ast.Module(body=_Mover(path).moved(node), type_ignores=[])
        text = ast.unparse(ast.fix_missing_locations(moved))
        margin = " " * node.col_offset
        lines[node.lineno - 1 : node.end_lineno] = [f"{margin}{line}\n" for line in text.splitlines()]
    return "".join(lines)


def _outermost(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Each `try` in which something is to be moved, but for those inside such a one."""
    for node in nodes:
        if isinstance(node, ast.Try) and any(_must_move(each) for each in ast.walk(node)):
            yield node
        else:
            yield from _outermost(ast.iter_child_nodes(node))


def _must_move(node: ast.AST) -> bool:
    return isinstance(node, ast.Try) and any(_waits([*handler.body, *node.finalbody]) for handler in _handlers(node))


def _handlers(node: ast.Try) -> list[ast.ExceptHandler]:
    return node.handlers or [ast.ExceptHandler(body=[])]


def _waits(nodes: Iterable[ast.AST]) -> bool:
    return any(
        isinstance(node, _WAITING) or (not isinstance(node, _OTHER_FUNCTION) and _waits(ast.iter_child_nodes(node)))
        for node in nodes
    )


class _Mover(ast.NodeTransformer):
    def __init__(self, path: str) -> None:
        self._path = path
        self._numbers = count(1)

    def moved(self, node: ast.Try) -> list[ast.stmt]:
        """What stands for it."""
        if _waits(node.finalbody):
            raise WaitsError(f"{self._path}:{node.lineno}: its `finally` waits")
        self.generic_visit(node)
        handlers = [handler for handler in node.handlers if _waits(handler.body)]
        if not handlers:
            return [node]
        before, after = [], []
        for handler in handlers:
            name = f"caught_{node.lineno}_{next(self._numbers)}"
            before.append(_none(name, handler.type))
            after.append(self._behind(handler, name))
            handler.body, handler.name = [ast.parse(f"{name} = {name}_").body[0]], f"{name}_"
        if not node.finalbody:
            return [*before, node, *after]
        inner = ast.Try(body=node.body, handlers=node.handlers, orelse=node.orelse, finalbody=[])
        return [ast.Try(body=[*before, inner, *after], handlers=[], orelse=[], finalbody=node.finalbody)]

    def visit_Try(self, node: ast.Try) -> list[ast.stmt]:
        return self.moved(node)

    def _behind(self, handler: ast.ExceptHandler, name: str) -> ast.stmt:
        body = [_Named(self._path, handler.name, name).visit(each) for each in handler.body]
        test = ast.parse(f"{name} is not None", mode="eval").body
        return ast.If(test=test, body=body, orelse=[])


class _Named(ast.NodeTransformer):
    """The exception by the name that it has behind the handler."""

    def __init__(self, path: str, old: str | None, new: str) -> None:
        self._path = path
        self._old = old
        self._new = new
        self._inside = 0

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(id=self._new, ctx=node.ctx) if node.id == self._old else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if node.exc is None and not self._inside:
            return ast.Raise(exc=ast.Name(id=self._new, ctx=ast.Load()))
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        # What a handler inside raises anew is its own.
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        asks = isinstance(node.func, ast.Attribute) and node.func.attr in {"exception", "exc_info"}
        named = any(option.arg == "exc_info" for option in node.keywords)
        if asks and not named and not self._inside:
            raise WaitsError(
                f"{self._path}:{node.lineno}: after its handler nothing says which exception this is about"
            )
        return self.generic_visit(node)


def _none(name: str, kind: ast.expr | None) -> ast.stmt:
    match kind:
        case ast.Name(id=str(one)) if not one.startswith("_"):
            kinds = [one]
        case ast.Tuple(elts=several):
            kinds = [ast.unparse(each) for each in several]
        case ast.Attribute():
            kinds = [ast.unparse(kind)]
        case _:
            kinds = ["BaseException"]
    return ast.parse(f"{name}: {' | '.join([*kinds, 'None'])} = None").body[0]
