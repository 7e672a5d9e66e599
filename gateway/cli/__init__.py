"""The command `oncegate`. Every command is imported when it is called, so that the others cost nothing."""

import sys

_OURS = ("gateway", "agent_client")
_USAGE = 2


def main(arguments: list[str] | None = None) -> None:
    """Run one command line and exit with its code; see `gateway.cli.exits`.

    What the base installs is the client: without the extra `gateway` there is no command, and that is said in a sentence.
    """
    try:
        from gateway.cli.group import main as run  # noqa: PLC0415 - it needs what may be missing

        run(arguments)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if not name or name in _OURS:
            raise
        print(f"error: {name} is not installed: pip install 'oncegate[gateway]'", file=sys.stderr)
        sys.exit(_USAGE)


__all__ = ["main"]
