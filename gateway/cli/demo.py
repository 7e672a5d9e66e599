"""`oncegate demo`."""

import click

from gateway.cli.exits import EXIT_HELP


@click.command(epilog=EXIT_HELP)
@click.option("--by-hand", is_flag=True, help="Wait for you to decide the agent's approval in another terminal.")
def command(*, by_hand: bool) -> None:
    """The refund incident, for real: a slow provider, a client that retries, without and with the gateway.

    Then an agent behind the same gateway: suspended for a person, approved, finished and verified. Starts all of it as
    processes of their own, takes under a minute, needs no network and no model service, and leaves nothing running.
    Exits 0 if the refund was made three times without the gateway and once with it, and the agent's once.
    """
    from gateway.demo.incident import run_demo  # noqa: PLC0415 - starts processes; --help does not

    raise click.exceptions.Exit(run_demo(by_hand=by_hand))
