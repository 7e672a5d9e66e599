"""`oncegate demo`."""

import click

from gateway.cli.exits import EXIT_HELP


@click.command(epilog=EXIT_HELP)
@click.option("--redis", is_flag=True, help="Two gateways on one Redis, one of which is killed in the middle of it.")
@click.option("--by-hand", is_flag=True, help="Wait for you to decide the agent's approval in another terminal.")
def command(*, redis: bool, by_hand: bool) -> None:
    """The refund incident, for real: a slow provider, a client that retries, without and with the gateway.

    Then an agent behind the same gateway: suspended for a person, approved, finished and verified. Starts all of it as
    processes of their own, takes under a minute, needs no network and no model service, and leaves nothing running.
    Exits 0 if the refund was made three times without the gateway and once with it, and the agent's once.

    With --redis the client's retry comes to a second gateway and the first is killed; exits 0 if there is one refund
    and the second gateway has told of it. This needs a Redis or Valkey server program on the PATH, and there is no
    agent.
    """
    if redis and by_hand:
        raise click.UsageError("--by-hand is for the agent, which is not part of --redis")
    if redis:
        from gateway.demo import two_gateways  # noqa: PLC0415 - starts processes; --help does not

        raise click.exceptions.Exit(two_gateways.run_demo())
    from gateway.demo.incident import run_demo  # noqa: PLC0415 - starts processes; --help does not

    raise click.exceptions.Exit(run_demo(by_hand=by_hand))
