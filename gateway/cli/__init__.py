"""The command `oncegate`. Every command is imported when it is called, so that the others cost nothing."""

from gateway.cli.group import main

__all__ = ["main"]
