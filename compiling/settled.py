"""A name that a `try` sets and its `finally` asks whether it is None.

At the end of the body the name is set, and mypy takes it to be set in the `finally` too. Where an exception comes before that,
the compiled `finally` raises a TypeError in its place and does nothing else. So such a module is refused.
"""

import ast


class SettledError(ValueError):
    """A `finally` asks of a name what mypy takes for settled; says where."""


def refuse_settled(source: str, path: str) -> None:
    """Let no such `finally` pass.

    Raises:
        SettledError: there is one.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Try) and not _goes_on(node) and (lines := _asked(node)):
            raise SettledError(f"{path}:{lines[0]}: compiled, this `finally` would fail where the name is still None")


def _goes_on(node: ast.Try) -> bool:
    """With a handler that comes to its end the name may be None at the end, too, and mypy knows it."""
    leaves = (ast.Raise, ast.Return, ast.Continue, ast.Break)
    return any(not isinstance(handler.body[-1], leaves) for handler in node.handlers)


def _asked(node: ast.Try) -> list[int]:
    named = (each for statement in node.body for each in ast.walk(statement))
    set_here = {each.id for each in named if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    lines = []
    for each in (each for statement in node.finalbody for each in ast.walk(statement)):
        match each:
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=None)]) if name in set_here:
                lines.append(each.lineno)
    return lines
