"""`oncegate report`."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.output import json_option, print_table
from gateway.contract.codes import ErrorCode
from gateway.stages.monitor.headroom import seconds

BAR: Final = 20
"""Characters of a bar: all of them is the timeout."""
NO_CALL: Final = "No call was answered yet."

tool_argument = click.argument("tool", required=False)
since_option = click.option("--since", metavar="MOMENT", help="From this on, as in 2026-10-28T09:14:02Z.")


@click.command(epilog=EXIT_HELP)
@tool_argument
@since_option
@json_option
@gateway_options
def command(*, gateway: Gateway, tool: str | None, since: str | None, as_json: bool) -> None:
    """Outcomes, latency against the timeout, retries and cost, for each tool.

    From the execution rows you may see, the newest first. A bar is p95 as a share of the timeout.

    \b
    oncegate report
    oncegate report issue_refund --since 2026-10-28T00:00:00Z
    """  # noqa: D301 - click's mark for lines that stay lines
    tell_signals(gateway, tool, since, as_json=as_json, show=_show)


def tell_signals(
    gateway: Gateway, tool: str | None, since: str | None, *, as_json: bool, show: Callable[[Any], None]
) -> None:
    """Print what `GET /v1/signals` answers.

    Raises:
        Failure: NO where no row is of `tool` and no tool is called so.
    """
    signals = gateway.ask("GET", "/v1/signals", params=asked(tool, since))
    if tool is not None and signals.error is None and not signals.data["tools"]:
        entry = gateway.ask("GET", f"/v1/tools/{quote(tool, safe='')}")
        if entry.error is not None and entry.error.code is ErrorCode.UNKNOWN_TOOL:
            raise Failure(f"no row is of a tool named {tool}, and this key may use none of that name.", Exit.NO)
    finish(signals, as_json=as_json, show=show)


def asked(tool: str | None, since: str | None) -> dict[str, str]:
    """The parameters of `GET /v1/signals`."""
    return {name: value for name, value in (("tool", tool), ("since", since)) if value is not None}


def tell_rows(data: Mapping[str, Any]) -> None:
    """How far back the numbers go, where older rows were left out."""
    if not data["complete"]:
        back = "" if data["oldest_at"] is None else f", back to {data['oldest_at']}"
        click.echo(f"\nFrom the newest {data['rows_cap']} rows only{back}.")


def percent(share: float | None) -> str:
    """A share for people; `-` for none."""
    return "-" if share is None else f"{share:.1%}"


def bar(share: float) -> str:
    """`####................`; full at 1 and beyond."""
    filled = min(round(share * BAR), BAR)
    return "#" * filled + "." * (BAR - filled)


def _show(data: Mapping[str, Any]) -> None:
    tools = data["tools"]
    print_table(
        ["TOOL", "CALLS", "ERRORS", "RETRIES", "P50", "P95", "P99", "TIMEOUT", f"{'P95 OF TIMEOUT':{BAR}}", "NEAR"],
        [_row(tool) for tool in tools],
        NO_CALL,
    )
    for tool in tools:
        codes = tool["outcomes"]["by_code"]
        if codes:
            click.echo(f"\n{tool['tool']}: " + ", ".join(f"{code} {count}" for code, count in codes.items()))
    spent = [_cost(tool) for tool in tools if tool["cost"]["runs"]]
    if spent:
        click.echo()
        print_table(["TOOL", "RUNS", "CALLS A RUN", "TOKENS A RUN", "UNITS A RUN"], spent, "")
    for tool in tools:
        warning = (tool["latency"]["headroom"] or {}).get("warning")
        if warning is not None:
            click.echo(f"\n{click.style('Warning:', fg='yellow')} {tool['tool']}: {warning}")
    tell_rows(data)


def _row(tool: Mapping[str, Any]) -> list[Any]:
    latency = tool["latency"]
    headroom, p95_ms = latency["headroom"], latency["p95_ms"]
    drawn = None
    if headroom is not None and p95_ms is not None:
        drawn = bar(p95_ms / 1000 / headroom["timeout_s"])
    return [
        tool["tool"],
        tool["outcomes"]["calls"],
        percent(tool["outcomes"]["error_rate"]),
        percent(tool["retries"]["rate"]),
        *(time_of(latency[name]) for name in ("p50_ms", "p95_ms", "p99_ms")),
        None if headroom is None else f"{headroom['timeout_s']:g} s",
        drawn,
        None if headroom is None else percent(headroom["near_share"]),
    ]


def time_of(milliseconds: float | None) -> str:
    """A latency for people; `-` for none."""
    return "-" if milliseconds is None else seconds(milliseconds)


def _cost(tool: Mapping[str, Any]) -> list[Any]:
    cost = tool["cost"]
    units = ", ".join(f"{amount:g} {unit}" for unit, amount in cost["units_per_run"].items())
    return [tool["tool"], cost["runs"], f"{cost['calls_per_run']:g}", f"{cost['tokens_per_run']:g}", units or None]
