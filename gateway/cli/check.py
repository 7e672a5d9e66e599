"""`oncegate check`."""

import re
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.options import load_settings, setting_options
from gateway.cli.output import json_option

_TYPED: Final = ParameterSource.COMMANDLINE
_NAME: Final = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}", re.ASCII)


@click.command(epilog=EXIT_HELP)
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How complaints are written.",
)
@click.option("--strict", is_flag=True, help="Warnings are a no as well.")
@json_option
@setting_options("manifests", "manifest_env")
def command(*, directory: Path | None, form: str, strict: bool, as_json: bool, **flags: Any) -> None:
    """Explain, with file and line, why tool manifests in DIRECTORY would not be safe, and how to mend them.

    Needs no network and no secrets. Exits 1 if a gateway would refuse to load them.

    \b
    oncegate check tool_manifests --manifest-env PAYMENTS_URL
    oncegate check tool_manifests --format sarif > oncegate.sarif
    """  # noqa: D301 - click's mark for lines that stay lines
    from gateway import __version__  # noqa: PLC0415 - with the others: --help needs none
    from gateway.adapters.cel.engine import CelEngine  # noqa: PLC0415
    from gateway.adapters.files.manifests import check_directory  # noqa: PLC0415
    from gateway.manifest import report  # noqa: PLC0415

    if directory is not None and flags["manifests"] is not None:
        raise Failure("DIRECTORY and --manifests name two directories; give one of them.", Exit.USAGE)
    if as_json and form != "json" and click.get_current_context().get_parameter_source("form") is _TYPED:
        raise Failure(f"--json and --format {form} exclude one another; give one of them.", Exit.USAGE)
    settings = load_settings(flags).settings
    path = directory or settings.manifests
    listed = settings.manifest_env or names_in_use(path)
    complaints = check_directory(path, listed, CelEngine())
    if form == "sarif":
        text = report.as_sarif(complaints, version=__version__)
    elif form == "json" or as_json:
        text = report.as_json(complaints)
    else:
        text = report.as_text(complaints)
    click.echo(text, nl=not text.endswith("\n"))
    if report.exit_code(complaints, strict=strict):
        raise click.exceptions.Exit(Exit.NO)


def names_in_use(path: Path) -> tuple[str, ...]:
    """Every `${NAME}` below `path`: what an operator who lists none here would have to list where it is served."""
    from gateway.adapters.files.manifests import read_files  # noqa: PLC0415 - as above

    texts = (content.decode(errors="replace") for _, content in read_files(path) if isinstance(content, bytes))
    names = sorted({name for text in texts for name in _NAME.findall(text)})
    if names:
        click.echo(f"note: taken as listed by the operator (--manifest-env): {', '.join(names)}", err=True)
    return tuple(names)
