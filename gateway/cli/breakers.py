"""`oncegate breakers`: how dependencies stand, and an operator's word on one of them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.output import json_option, moment, print_fields, print_table
from gateway.manifest.units import duration_s

_reason = click.option(
    "--reason", required=True, metavar="TEXT", help="Why, in one line. Callers who are refused are told."
)


def _seconds(_: click.Context, parameter: click.Parameter, text: str) -> float:
    try:
        return duration_s(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}.", param=parameter) from None


_for = click.option(
    "--for", "for_s", required=True, metavar="DURATION", callback=_seconds, help="As in 10m or 2h; at most 7d."
)


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """List circuit breakers; keep one open or closed for a time, or take that back.

    A breaker is named by `breaker.scope` of the manifests, and shared by all gateways of one store. The key needs
    operator:breakers to list, operator:breakers:force for the rest.

    \b
    oncegate breakers list
    oncegate breakers open payments --reason "maintenance until noon" --for 2h
    oncegate breakers close payments --reason "they are back, I asked them" --for 10m
    oncegate breakers release payments
    """  # noqa: D301 - click's mark for lines that stay lines


@command.command("list", epilog=EXIT_HELP)
@json_option
@gateway_options
def list_breakers(*, gateway: Gateway, as_json: bool) -> None:
    """List the breakers that the gateway has been asked about since it started."""
    finish(gateway.ask("GET", "/v1/breakers"), as_json=as_json, show=_table)


@command.command("open", epilog=EXIT_HELP)
@click.argument("scope")
@_reason
@_for
@json_option
@gateway_options
def open_breaker(*, scope: str, gateway: Gateway, as_json: bool, **word: Any) -> None:
    """Send nothing there, not even a look-up; calls are told why and for how long."""
    _say(gateway, scope, {"state": "open", **word}, as_json=as_json)


@command.command("close", epilog=EXIT_HELP)
@click.argument("scope")
@_reason
@_for
@json_option
@gateway_options
def close_breaker(*, scope: str, gateway: Gateway, as_json: bool, **word: Any) -> None:
    """Send again, whatever fails meanwhile."""
    _say(gateway, scope, {"state": "closed", **word}, as_json=as_json)


@command.command(epilog=EXIT_HELP)
@click.argument("scope")
@json_option
@gateway_options
def release(*, scope: str, gateway: Gateway, as_json: bool) -> None:
    """Take the word back: a breaker that was kept open lets one call probe."""
    _say(gateway, scope, {"state": "auto"}, as_json=as_json)


def _say(gateway: Gateway, scope: str, body: Mapping[str, Any], *, as_json: bool) -> None:
    path = f"/v1/breakers/{quote(scope, safe='/:@')}"
    finish(gateway.ask("POST", path, body=body), as_json=as_json, show=lambda data: print_fields(_shown(data)))


def _shown(view: Mapping[str, Any]) -> dict[str, Any]:
    since, again_s, forced = view.get("since_wall"), view.get("retry_after_s"), view.get("forced")
    return {
        "breaker": view.get("scope"),
        "state": view.get("state"),
        "failures": view.get("failures"),
        "since": None if since is None else moment(since),
        "again in": None if again_s is None else f"{again_s:.0f} s",
        "kept": None if forced is None else f"{forced['to']} for {forced['for_s']:.0f} s: {forced['reason']}",
    }


def _table(data: Any) -> None:
    rows = [list(_shown(view).values()) for view in data["breakers"]]
    empty = "No breakers: this gateway has not asked about one since it started."
    print_table(["BREAKER", "STATE", "FAILURES", "SINCE", "AGAIN IN", "KEPT"], rows, empty)
