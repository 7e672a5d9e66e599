"""Exceptions as ordinary classes.

An exception is made by the interpreter's own `__new__`, which does not fill in the table of methods that a compiled class
has: calling one of them would end the process. So mypyc is told to leave exceptions as they are.
"""

import ast
from typing import Final

_IMPORT: Final = "from mypy_extensions import mypyc_attr\n"
_MARK: Final = "@mypyc_attr(native_class=False)\n"


def left_ordinary(source: str) -> str:
    """The module with each of its exceptions marked; every other line as it was."""
    tree = ast.parse(source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and _is_exception(node)]
    if not found:
        return source
    lines = source.splitlines(keepends=True)
    for node in sorted(found, key=lambda each: each.lineno, reverse=True):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        lines.insert(first - 1, " " * node.col_offset + _MARK)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    lines.insert(imports[-1].end_lineno or 0 if imports else _after_docstring(tree), _IMPORT)
    return "".join(lines)


def _is_exception(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)


def _after_docstring(tree: ast.Module) -> int:
    return tree.body[0].end_lineno or 0 if ast.get_docstring(tree) is not None else 0
