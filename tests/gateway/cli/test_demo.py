"""`oncegate demo`. What it shows is tested with the demo."""

from tests.gateway.cli.run import run


def test_the_demo_says_what_it_will_do() -> None:
    """Its help tells what is started, for how long, and what its exit code proves."""
    helped = " ".join(run("demo", "--help").stdout.split())

    assert "leaves nothing running" in helped
    assert "Exits 0 if the refund was made three times without the gateway and once with it" in helped
    assert "exits 0 if there is one refund and the second gateway has told of it" in helped


def test_the_agent_is_not_part_of_two_gateways() -> None:
    """Asking for both is an error of usage, and nothing is started."""
    refused = run("demo", "--redis", "--by-hand")

    assert refused.exit_code == 2
    assert "--by-hand is for the agent" in refused.stderr
