"""Ctrl-C: how it ends a command, and from when on it changes nothing.

Each takes hold in the main thread, and nowhere else. Little is imported here: until it is, an interruption is a traceback.
"""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Final

SAID: Final = "interrupted; it was not finished."
CODE: Final = 130
"""128 + 2, as shells have it: nothing that changes something was sent."""


def leave_at_once() -> None:
    """While modules are imported: an exception would come out of whatever import it met, as a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _take(_leave)


def listen() -> None:
    """From here on an interruption is a KeyboardInterrupt again, which a command can answer."""
    if signal.getsignal(signal.SIGINT) is _leave:
        _take(signal.default_int_handler)


def ignore() -> None:
    """From here to the end of the process it changes nothing: what the command has to say is known."""
    _take(signal.SIG_IGN)


def _take(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        # Another thread's doing: the handlers are the main program's.
        return


def _leave(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, f"error: {SAID}\n".encode())
    finally:
        os._exit(CODE)
