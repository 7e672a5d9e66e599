"""`oncegate version`."""

import platform
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from typing import Final

import click

from gateway import __version__
from gateway.cli.output import json_option, print_json

PASSED: Final = "gateway.pipeline.core"
"""Every call passes through it: where anything is compiled, it is."""


@click.command()
@json_option
def command(*, as_json: bool) -> None:
    """Print the version of OnceGate, of the Python it runs on, and whether it is compiled."""
    compiled = _is_compiled()
    if as_json:
        print_json({"oncegate": __version__, "python": platform.python_version(), "compiled": compiled})
    else:
        how = "compiled" if compiled else "from source"
        click.echo(f"oncegate {__version__} (Python {platform.python_version()}, {how})")


def _is_compiled() -> bool:
    """By the file that Python would load, or has loaded."""
    spec = find_spec(PASSED)
    return spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES))
