"""`oncegate approvals`: what waits for a person, and the person's word."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.output import json_option, print_fields, print_table


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """List, show, approve and deny what waits for a person.

    \b
    oncegate approvals list --state pending
    oncegate approvals show 01J9ZK…
    oncegate approvals approve 01J9ZK… --note "ticket 4471 seen"
    """  # noqa: D301 - click's mark for lines that stay lines


@command.command("list", epilog=EXIT_HELP)
@click.option("--state", help="Only those in this state: pending, approved, reserved, spent, denied, expired.")
@click.option("--run", "run_id", help="Only this run's.")
@click.option("--tool", help="Only this tool's.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most so many, newest first."
)
@json_option
@gateway_options
def list_approvals(*, gateway: Gateway, as_json: bool, **filters: Any) -> None:
    """List approvals that the key asked for or may decide, newest first."""
    params = {name: str(value) for name, value in filters.items() if value is not None}
    finish(gateway.ask("GET", "/v1/approvals", params=params), as_json=as_json, show=_table)


@command.command(epilog=EXIT_HELP)
@click.argument("approval_id")
@json_option
@gateway_options
def show(*, approval_id: str, gateway: Gateway, as_json: bool) -> None:
    """Show one approval: the exact action, who asked, why, and until when."""
    finish(gateway.ask("GET", _path(approval_id)), as_json=as_json, show=print_fields)


@command.command(epilog=EXIT_HELP)
@click.argument("approval_id")
@click.option("--note", help="Why, in your own words; kept with the decision.")
@json_option
@gateway_options
def approve(*, approval_id: str, note: str | None, gateway: Gateway, as_json: bool) -> None:
    """Allow the action, once, until the approval lapses. Decided is decided."""
    _decide(gateway, approval_id, "approve", note, as_json=as_json)


@command.command(epilog=EXIT_HELP)
@click.argument("approval_id")
@click.option("--note", help="Why, in your own words; kept with the decision.")
@json_option
@gateway_options
def deny(*, approval_id: str, note: str | None, gateway: Gateway, as_json: bool) -> None:
    """Forbid the action. Decided is decided."""
    _decide(gateway, approval_id, "deny", note, as_json=as_json)


def _decide(gateway: Gateway, approval_id: str, decision: str, note: str | None, *, as_json: bool) -> None:
    body: Mapping[str, Any] = {"decision": decision, **({} if note is None else {"note": note})}
    envelope = gateway.ask("POST", f"{_path(approval_id)}/decision", body=body)
    finish(envelope, as_json=as_json, show=print_fields)


def _path(approval_id: str) -> str:
    return f"/v1/approvals/{quote(approval_id, safe='')}"


def _table(data: Any) -> None:
    rows = [
        [
            it.get("approval_id"),
            it.get("state"),
            it.get("tool"),
            it.get("requested_by"),
            it.get("expires_at"),
            " ".join(it.get("reasons") or ()),
        ]
        for it in data["approvals"]
    ]
    print_table(["APPROVAL", "STATE", "TOOL", "ASKED BY", "LAPSES", "REASON"], rows, "No approvals.")
