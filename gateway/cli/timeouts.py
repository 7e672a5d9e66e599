"""`oncegate timeouts`."""

from collections.abc import Mapping
from typing import Any

import click

from gateway.cli.client import Gateway, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.output import json_option, print_table
from gateway.cli.report import NO_CALL, since_option, tell_rows, tell_signals, time_of, tool_argument


@click.command(epilog=EXIT_HELP)
@tool_argument
@since_option
@json_option
@gateway_options
def command(*, gateway: Gateway, tool: str | None, since: str | None, as_json: bool) -> None:
    """Which timeouts are too short, or longer than they need be.

    The advice is the observed p99 with 30 % headroom, and says how many calls the present value cuts off. It changes
    nothing: `timeouts.read` is in the tool's manifest.

    \b
    oncegate timeouts
    oncegate timeouts issue_refund --json
    """  # noqa: D301 - click's mark for lines that stay lines
    tell_signals(gateway, tool, since, as_json=as_json, show=_show)


def _show(data: Mapping[str, Any]) -> None:
    judged = [tool for tool in data["tools"] if tool["latency"]["headroom"] is not None]
    print_table(["TOOL", "CALLS", "P99", "TIMEOUT", "CUT OFF", "ADVISED"], [_row(tool) for tool in judged], NO_CALL)
    for tool in judged:
        click.echo(f"\n{tool['tool']}: {tool['latency']['headroom']['advice']}")
    tell_rows(data)


def _row(tool: Mapping[str, Any]) -> list[Any]:
    latency = tool["latency"]
    headroom = latency["headroom"]
    advised_s = headroom["advised_s"]
    return [
        tool["tool"],
        latency["calls"],
        time_of(latency["p99_ms"]),
        f"{headroom['timeout_s']:g} s",
        headroom["cut_off"],
        None if advised_s is None else f"{advised_s:g} s",
    ]
