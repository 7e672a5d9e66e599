"""`oncegate call`."""

from urllib.parse import quote

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.output import json_option, print_pretty
from gateway.cli.proposal import Proposal, proposal_options


@click.command(epilog=EXIT_HELP)
@proposal_options
@json_option
@gateway_options
def command(*, proposal: Proposal, gateway: Gateway, as_json: bool) -> None:
    """Call TOOL through a gateway, and print its result.

    NAME=TEXT gives an argument as text, NAME:=JSON as JSON. The same call made again is the same operation: it gets
    the stored result, and nothing is done twice.

    \b
    oncegate call lookup_order order_id=ORD-1
    oncegate call issue_refund order_id=ORD-1 payment_id=PAY-1 amount_paise:=425000
    echo '{"order_id": "ORD-1"}' | oncegate call lookup_order --arguments - --json
    """  # noqa: D301 - click's mark for lines that stay lines
    path = f"/v1/tools/{quote(proposal.tool, safe='')}/calls"
    envelope = gateway.ask("POST", path, body=proposal.body, headers=proposal.headers)
    if envelope.meta.replayed and not as_json:
        click.echo("(the stored result of an earlier call)", err=True)
    proposal.hint(envelope)
    finish(envelope, as_json=as_json, show=print_pretty)
