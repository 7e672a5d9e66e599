"""`oncegate operations`: what was done, what is in doubt, and who settles it."""

import json
from typing import Any, Final
from urllib.parse import quote

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.options import load_settings, setting_options
from gateway.cli.output import json_option, print_fields, print_json, print_table

# As the gateway takes them; a test holds the two together. `unknown` is the listening one too.
_STATES: Final = ("unknown", "unknown_listening", "claimed", "sent", "done", "refused", "frozen", "free")


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """List, show, reconcile, settle and forget operations.

    \b
    oncegate operations list --state unknown
    oncegate operations reconcile 01J9ZK…
    oncegate operations settle 01J9ZK… --executed --evidence "refund R-77 in the provider's console"
    """  # noqa: D301 - click's mark for lines that stay lines


@command.command("list", epilog=EXIT_HELP)
@click.option("--state", help=f"Only those in this state: {', '.join(_STATES)}.")
@click.option("--key", help="Only the one with this operation key.")
@click.option("--run", "run_id", help="Only this run's.")
@click.option("--tool", help="Only this tool's.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most so many, newest first."
)
@json_option
@gateway_options
def list_operations(*, gateway: Gateway, as_json: bool, **filters: Any) -> None:
    """List operations, newest first."""
    params = {name: str(value) for name, value in filters.items() if value is not None}
    finish(gateway.ask("GET", "/v1/operations", params=params), as_json=as_json, show=_table)


@command.command(epilog=EXIT_HELP)
@click.argument("operation_id")
@json_option
@gateway_options
def show(*, operation_id: str, gateway: Gateway, as_json: bool) -> None:
    """Show one operation."""
    finish(gateway.ask("GET", _path(operation_id)), as_json=as_json, show=print_fields)


@command.command(epilog=EXIT_HELP)
@click.argument("operation_id")
@json_option
@gateway_options
def reconcile(*, operation_id: str, gateway: Gateway, as_json: bool) -> None:
    """Look now, by the means its manifest declares, whether it was carried out."""
    finish(gateway.ask("POST", f"{_path(operation_id)}/reconcile"), as_json=as_json, show=print_fields)


@command.command(epilog=EXIT_HELP)
@click.argument("operation_id")
@click.option("--executed", "executed", is_flag=True, help="It was carried out.")
@click.option("--not-executed", "not_executed", is_flag=True, help="It was not, and may be called again.")
@click.option("--refused", "refused", is_flag=True, help="It was not: the service refused it for good.")
@click.option("--evidence", required=True, help="What that rests on, in your own words; it is kept.")
@click.option("--result", help="With --executed: the result as the tool would have given it, as JSON.")
@json_option
@gateway_options
def settle(
    *, operation_id: str, evidence: str, result: str | None, gateway: Gateway, as_json: bool, **ends: bool
) -> None:
    """Say, with evidence, how an operation ended. Needs the permission operations:settle."""
    said = [end for end, meant in ends.items() if meant]
    if len(said) != 1:
        raise click.UsageError("Say one of --executed, --not-executed and --refused.")
    if result is not None and said != ["executed"]:
        raise click.UsageError("--result goes with --executed: what was not carried out has no result.")
    body: dict[str, Any] = {"settled_as": said[0], "evidence": evidence}
    if result is not None:
        try:
            body["result"] = json.loads(result)
        except ValueError as error:
            raise Failure(f"--result is not JSON: {error}.", Exit.USAGE) from None
    envelope = gateway.ask("POST", f"{_path(operation_id)}/settle", body=body)
    finish(envelope, as_json=as_json, show=print_fields)


@command.command(epilog=EXIT_HELP)
@click.argument("operation_id")
@click.confirmation_option(prompt="Its stored arguments and result will be gone. Go on?")
@json_option
@setting_options("store", "seal_key_env")
def forget(*, operation_id: str, as_json: bool, **flags: Any) -> None:
    """Drop what a settled operation stores of arguments and result, at the store itself.

    A tombstone stays: the same call is still the same operation, and is not carried out again.
    """
    from gateway.cli.forgetting import forget_bodies  # noqa: PLC0415 - opens a store; the client commands need none

    forgotten = forget_bodies(load_settings(flags).settings, operation_id)
    if as_json:
        print_json({"operation_id": operation_id, "forgotten": forgotten})
    elif forgotten:
        click.echo(f"Forgot the arguments and the result of {operation_id}; its tombstone stays.")
    if not forgotten:
        raise Failure(f"{operation_id} is not a settled operation of this store with anything left to forget.", Exit.NO)


def _path(operation_id: str) -> str:
    return f"/v1/operations/{quote(operation_id, safe='')}"


def _table(data: Any) -> None:
    rows = [
        [it.get(name) for name in ("created_at", "operation_id", "tool", "state", "run_id", "subject")]
        for it in data["operations"]
    ]
    print_table(["BEGUN", "OPERATION", "TOOL", "STATE", "RUN", "SUBJECT"], rows, "No operations.")
