"""What an exit code of `oncegate` means, so that scripts need not read sentences."""

import contextlib
import sys
from enum import IntEnum
from typing import IO, Any, Final

import click


class Exit(IntEnum):
    """What it says of a call. After which the same command may be run again: docs/cli.md."""

    OK = 0
    NO = 1
    """The answer is no: refused, not ready, complaints. Nothing was executed."""
    USAGE = 2
    """The command line or the configuration cannot be used."""
    UNREACHABLE = 3
    """No gateway answered, and nothing was sent to it."""
    UNKNOWN = 4
    """The outcome is unknown: it may have been carried out."""
    EXECUTED = 5
    """It was carried out, but its result is not in hand."""
    FAULT = 70
    """A fault of this program (EX_SOFTWARE of sysexits.h)."""
    CLOSED = 141
    """Whoever read the output stopped reading: no answer to anything (128 + SIGPIPE, as other tools end)."""
    INTERRUPTED = 130
    """SIGINT before anything that changes something was sent (128 + 2, as shells have it)."""


EXIT_HELP: Final = (
    "Exit codes: 0 ok, 1 the answer is no, 2 usage or configuration, 3 gateway unreachable, "
    "4 outcome unknown, 5 executed but its result is not in hand, 70 a fault of oncegate itself, 130 interrupted, 141 nobody reads the output."
)


class Failure(click.ClickException):
    """Ends a command with one sentence on standard error, and a code."""

    def __init__(self, message: str, exit_code: Exit) -> None:
        super().__init__(message)
        self.exit_code = int(exit_code)  # type: ignore[misc]  # click reads it from the instance

    def show(self, file: IO[Any] | None = None) -> None:
        # click leaves the colours out where nobody sees them.
        try:
            click.echo(click.style("error: ", fg="red", bold=True) + self.format_message(), file=file, err=file is None)
        except OSError:
            # Nobody can be told; the code still can.
            let_go(sys.stderr)


def let_go(stream: IO[Any]) -> None:
    """Close what cannot be written to: the interpreter would try again at its end, and exit with 120."""
    with contextlib.suppress(OSError):
        stream.close()
