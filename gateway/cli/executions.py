"""`oncegate executions`."""

import json
from typing import Any

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.output import json_option, moment, print_table


@click.command(epilog=EXIT_HELP)
@click.option("--run", "run_id", help="Only this run's.")
@click.option("--tool", help="Only this tool's.")
@click.option("--code", help="Only those with this error code.")
@click.option("--operation", "operation_id", metavar="ID", help="Only this operation's.")
@click.option("--trace", "trace_id", metavar="ID", help="Only this trace's, as spans and logs have it.")
@click.option("--since", metavar="MOMENT", help="Not earlier than this, as in 2026-10-28T09:14:02Z.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most so many, newest first."
)
@json_option
@gateway_options
def command(*, gateway: Gateway, as_json: bool, **filters: Any) -> None:
    """One row for every answer the gateway gave; with --json one JSON object a line.

    \b
    oncegate executions --tool issue_refund --code timeout_unknown_outcome
    oncegate executions --trace 4bf92f3577b34da6a3ce929d0e0e4736
    oncegate executions --json | jq -r .operation_id
    """  # noqa: D301 - click's mark for lines that stay lines
    params = {name: str(value) for name, value in filters.items() if value is not None}
    envelope = gateway.ask("GET", "/v1/executions", params=params)
    if as_json and envelope.error is None:
        for row in envelope.data["executions"]:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    finish(envelope, as_json=as_json, show=_table)


def _table(data: Any) -> None:
    rows = [
        [
            moment(row["at_wall"]),
            row["tool"],
            row["code"] or row["outcome"],
            "yes" if row["replayed"] else "",
            row["attempts"],
            f"{row['latency_ms']:.0f}",
            row["run_id"],
            row["operation_id"],
        ]
        for row in data["executions"]
    ]
    print_table(
        ["AT", "TOOL", "OUTCOME", "REPLAYED", "ATTEMPTS", "MS", "RUN", "OPERATION"], rows, "No call was answered yet."
    )
