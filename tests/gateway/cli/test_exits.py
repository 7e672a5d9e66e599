"""Exit codes."""

from gateway.cli.exits import EXIT_HELP, Exit, Failure


def test_the_help_names_every_code_a_script_may_meet() -> None:
    """What is in the help is what is in the table."""
    named = {int(part.split()[0]) for part in EXIT_HELP.removeprefix("Exit codes: ").split(", ")}

    assert named == {code.value for code in Exit}


def test_a_failure_is_one_plain_line() -> None:
    """The message, nothing around it, and its code."""
    failure = Failure("no such thing.", Exit.UNREACHABLE)

    assert (failure.format_message(), failure.exit_code) == ("no such thing.", 3)
