"""Guarded methods with the guard inside them.

`guarded` hands on whatever a method is called with, which mypyc packs into a list and a dictionary and unpacks again, and what it
gives back is no method to mypyc but an object that is called. With the guard inside, the method is compiled as one.
"""

import ast
from typing import Final

_GUARDED: Final = "guarded"
_HANDLER: Final = """\
try: pass
except Exception as failure:
    self._core.fault(failure)
"""


def guarded_inside(source: str) -> str:
    """The module with each of its guarded methods written so; every other line as it was."""
    lines = source.splitlines(keepends=True)
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef) and _is_guarded(node)]
    for node in sorted(found, key=lambda each: each.lineno, reverse=True):
        guard = ast.parse(_HANDLER).body[0]
        assert isinstance(guard, ast.Try)
        guard.body = node.body
        node.body = [guard]
        first, margin = node.decorator_list[0].lineno, " " * node.col_offset
        node.decorator_list = [each for each in node.decorator_list if not _is_guard(each)]
        written = ast.unparse(node).splitlines()
        lines[first - 1 : node.end_lineno] = [f"{margin}{line}\n" for line in written]
    return "".join(lines)


def _is_guarded(node: ast.FunctionDef) -> bool:
    return any(map(_is_guard, node.decorator_list))


def _is_guard(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id == _GUARDED
