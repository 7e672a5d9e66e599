"""`oncegate completion`."""

import pytest

from tests.gateway.cli.run import run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_completes_this_command(shell: str) -> None:
    """Each shell gets a script that asks `oncegate` itself."""
    result = run("completion", shell)

    assert result.exit_code == 0
    assert f"_ONCEGATE_COMPLETE={shell}_complete" in result.stdout


def test_commands_are_completed() -> None:
    """What the script asks is answered with the commands' names, without loading a command."""
    words = {"_ONCEGATE_COMPLETE": "bash_complete", "COMP_WORDS": "oncegate se", "COMP_CWORD": "1"}

    assert run(environment=words).stdout == "plain,serve\n"
