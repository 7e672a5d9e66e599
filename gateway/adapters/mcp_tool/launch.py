"""Started in the place of a server's program: ties its life to the gateway's, and becomes it.

Run as a file by a bare interpreter, so it imports nothing of the gateway. A gateway that is killed has no time to end its
children; the kernel does it (Linux; elsewhere they see the end of their input).
"""

import ctypes
import os
import signal
import sys
from typing import Final

NOT_STARTED: Final = 127
"""The exit code of a program that is not there, as shells have it."""
FIRST_INHERITED: Final = 3
"""Behind standard input, output and error."""
_PR_SET_PDEATHSIG: Final = 1


def tie(parent: int) -> bool:
    """Ask to be killed when `parent` dies; false when it is dead already."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return os.getppid() == parent


def main(words: list[str]) -> int:
    """`PARENT PROGRAM [ARGUMENT…]`: become the program."""
    parent, *command = words
    if not tie(int(parent)):
        return NOT_STARTED
    # uvloop leaves copies of the pipes open, and a program that closes its output would then not be seen to.
    os.closerange(FIRST_INHERITED, os.sysconf("SC_OPEN_MAX"))
    try:
        os.execv(command[0], command)  # noqa: S606 - there is no shell that could read it otherwise
    except OSError:
        return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
