"""`oncegate tools`."""

from typing import Any
from urllib.parse import quote

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.output import json_option, print_pretty, print_table


@click.command(epilog=EXIT_HELP)
@click.argument("tool", required=False)
@json_option
@gateway_options
def command(*, tool: str | None, gateway: Gateway, as_json: bool) -> None:
    """List the tools this key may use, or show TOOL with its arguments.

    \b
    oncegate tools
    oncegate tools issue_refund
    """  # noqa: D301 - click's mark for lines that stay lines
    if tool is None:
        finish(gateway.ask("GET", "/v1/tools"), as_json=as_json, show=_list)
    else:
        finish(gateway.ask("GET", f"/v1/tools/{quote(tool, safe='')}"), as_json=as_json, show=print_pretty)


def _list(data: Any) -> None:
    rows = [[it["name"], it["version"], it["effect"], _state(it), it["title"]] for it in data["tools"]]
    print_table(["TOOL", "VERSION", "EFFECT", "STATE", "TITLE"], rows, "This key may use no tool.")


def _state(entry: dict[str, Any]) -> str:
    """What a caller should know before it calls."""
    return "quarantined" if entry.get("quarantined") else "deprecated" if entry.get("deprecated") else "ready"
