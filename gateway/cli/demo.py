"""`oncegate demo`."""

import click

from gateway.cli.exits import EXIT_HELP


@click.command(epilog=EXIT_HELP)
def command() -> None:
    """The refund incident, for real: a slow provider, a client that retries, without and with the gateway.

    Starts a payment provider and a gateway as processes of their own, takes under a minute, needs no network, and
    leaves nothing running. Exits 0 if the refund was made three times without the gateway and once with it.
    """
    from gateway.demo.incident import run_demo  # noqa: PLC0415 - starts processes; --help does not

    raise click.exceptions.Exit(run_demo())
