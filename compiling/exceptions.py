"""Exceptions as ordinary classes.

An exception is made by the interpreter's own `__new__`, which does not fill in the table of methods that a compiled class
has: calling one of them would end the process. So mypyc is told to leave exceptions as they are: it does so with each class
that has a decorator which it does not know, were it one that does nothing. `mypyc_attr(native_class=False)` says the same,
but whoever installs what was compiled would need mypy_extensions, the client too.
"""

import ast
from typing import Final

_MARK: Final = "@(lambda exception: exception)\n"


def left_ordinary(source: str) -> str:
    """The module with each of its exceptions marked; every other line as it was."""
    lines = source.splitlines(keepends=True)
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef) and _is_exception(node)]
    for node in sorted(found, key=lambda each: each.lineno, reverse=True):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        lines.insert(first - 1, " " * node.col_offset + _MARK)
    return "".join(lines)


def _is_exception(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
