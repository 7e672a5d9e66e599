"""`oncegate version`."""

import platform

import click

from gateway import __version__
from gateway.cli.output import json_option, print_json


@click.command()
@json_option
def command(*, as_json: bool) -> None:
    """Print the version of OnceGate, and of the Python it runs on."""
    if as_json:
        print_json({"oncegate": __version__, "python": platform.python_version()})
    else:
        click.echo(f"oncegate {__version__} (Python {platform.python_version()})")
