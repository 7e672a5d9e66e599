"""`oncegate demo`."""

import click

from gateway.cli.exits import EXIT_HELP


@click.command(epilog=EXIT_HELP)
@click.option("--redis", is_flag=True, help="Two gateways on one Redis, one of which is killed in the middle of it.")
def command(*, redis: bool) -> None:
    """The refund incident, for real: a slow provider, a client that retries, without and with the gateway.

    Starts a payment provider and a gateway as processes of their own, takes under a minute, needs no network, and
    leaves nothing running. Exits 0 if the refund was made three times without the gateway and once with it.

    With --redis the client's retry comes to a second gateway and the first is killed; exits 0 if there is one refund
    and the second gateway has told of it. This needs a Redis or Valkey server program on the PATH.
    """
    if redis:
        from gateway.demo import two_gateways  # noqa: PLC0415 - starts processes; --help does not

        raise click.exceptions.Exit(two_gateways.run_demo())
    from gateway.demo.incident import run_demo  # noqa: PLC0415 - starts processes; --help does not

    raise click.exceptions.Exit(run_demo())
