"""The command `oncegate`. Every command is imported when it is called, so that the others cost nothing."""

import sys

from gateway import __version__
from gateway.cli.interrupts import leave_at_once

_OURS = ("gateway", "agent_client")
_USAGE = 2
_INSTALLING = "pip install 'oncegate[gateway]', or in a clone: pip install '.[gateway]'"
"""As `agent_client.extras.installing` says it; that package costs more than a command line that only wants a sentence."""


def main(arguments: list[str] | None = None) -> None:
    """Run one command line and exit with its code; see `gateway.cli.exits`.

    What the base installs is the client: without the extra `gateway` there is no command but `version`, and that is said in a sentence.
    """
    leave_at_once()
    try:
        from gateway.cli.group import main as run  # noqa: PLC0415 - it needs what may be missing

        run(arguments)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if not name or name in _OURS:
            raise
        if (sys.argv[1:] if arguments is None else arguments) in (["version"], ["--version"]):
            import platform  # noqa: PLC0415 - nobody else needs it

            print(f"oncegate {__version__} (Python {platform.python_version()}, the client alone)")
            return
        print(f"error: {name} is not installed: {_INSTALLING}", file=sys.stderr)
        sys.exit(_USAGE)


__all__ = ["main"]
