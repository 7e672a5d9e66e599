"""Started beside a server's process: ends everything that this has started when the gateway is gone.

The kernel ends the one process that the gateway has started (`launch`). Where that is a wrapper (npx, uvx, a shell) the server
is another, and would act on what lies in its pipe. Run as a file by a bare interpreter, so it imports nothing of the gateway.
"""

import contextlib
import os
import signal
import sys
from typing import Final

FIRST_INHERITED: Final = 3
"""Behind standard input, output and error."""


def main(words: list[str]) -> int:
    """`GROUP`: wait for the end of the standard input, which the gateway holds open, and kill that process group."""
    (group,) = words
    # A service manager that stops the gateway may tell everybody: it ends its servers itself, and they come before us.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.closerange(FIRST_INHERITED, os.sysconf("SC_OPEN_MAX"))
    while os.read(0, 1):
        pass
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(int(group), signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
