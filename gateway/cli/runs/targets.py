"""Objects of a user's own program, named on the command line as `module:name`."""

import importlib
import inspect
import os
import sys
from typing import Any, TypeVar

from gateway.cli.exits import Exit, Failure

_T = TypeVar("_T")


def named(target: str) -> Any:
    """What `module:name` names; the folder the command is run in is searched first.

    Raises:
        Failure: USAGE when there is no such thing, or importing it fails.
    """
    module, mark, name = target.partition(":")
    if not (module and mark and name):
        raise Failure(f"{target!r} names nothing; write MODULE:NAME, such as my_agent:runner.", Exit.USAGE)
    here = os.getcwd()  # noqa: PTH109 - what sys.path holds is text
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:
        if os.environ.get("ONCEGATE_DEBUG"):
            raise
        raise Failure(f"{module} cannot be imported: {type(error).__name__}: {error}.", Exit.USAGE) from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise Failure(f"{module} has no {name}.", Exit.USAGE)
        found = getattr(found, part)
    return found


async def made(target: str, found: Any, kind: type[_T]) -> _T:
    """`found`, or what it makes when it is called without arguments, awaited if need be.

    Raises:
        Failure: USAGE when that is no `kind`.
    """
    thing = found if isinstance(found, kind) or not callable(found) else found()
    if inspect.isawaitable(thing):
        thing = await thing
    if not isinstance(thing, kind):
        raise Failure(f"{target} is a {type(thing).__name__}; a {kind.__name__} is needed.", Exit.USAGE)
    return thing
