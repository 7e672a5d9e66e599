"""`oncegate prepare`."""

from urllib.parse import quote

import click

from gateway.cli.client import Gateway, finish, gateway_options
from gateway.cli.exits import EXIT_HELP
from gateway.cli.output import json_option, print_fields
from gateway.cli.proposal import Proposal, proposal_options


@click.command(epilog=EXIT_HELP)
@proposal_options
@json_option
@gateway_options
def command(*, proposal: Proposal, gateway: Gateway, as_json: bool) -> None:
    """Validate and authorise a call of TOOL, and print its operation key and action hash. Executes nothing.

    \b
    oncegate prepare issue_refund order_id=ORD-1 payment_id=PAY-1 amount_paise:=425000
    """  # noqa: D301 - click's mark for lines that stay lines
    path = f"/v1/tools/{quote(proposal.tool, safe='')}/prepare"
    envelope = gateway.ask("POST", path, body=proposal.body, changes=False, headers=proposal.headers)
    proposal.hint(envelope)
    finish(envelope, as_json=as_json, show=print_fields)
