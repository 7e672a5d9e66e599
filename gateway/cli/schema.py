"""`oncegate schema`."""

import json

import click

from gateway.cli.exits import EXIT_HELP


@click.command(epilog=EXIT_HELP)
@click.argument("what", type=click.Choice(["manifest", "openapi"]), default="manifest")
def command(*, what: str) -> None:
    """Print the JSON Schema of tool manifests, for editors, or the OpenAPI document of the HTTP interface.

    \b
    oncegate schema > manifest.schema.json
    oncegate schema openapi > docs/openapi.json
    """  # noqa: D301 - click's mark for lines that stay lines
    if what == "manifest":
        from gateway.manifest.format_schema import format_schema  # noqa: PLC0415 - one of the two is needed

        document = format_schema()
    else:
        from gateway.fronts.http.openapi import document as openapi  # noqa: PLC0415 - as above

        document = openapi()
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
