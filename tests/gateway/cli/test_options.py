"""Every setting is an option of `serve`."""

import pytest

from gateway.cli.options import load_settings
from gateway.cli.serve import command
from gateway.settings import Settings, flag_of, is_secret, variable_of
from tests.gateway.cli.run import run


def test_every_setting_has_its_option() -> None:
    """Only secrets have none; each help names the environment variable, and its default where it has one."""
    options = {opt for parameter in command.params for opt in parameter.opts}
    helped = " ".join(run("serve", "--help").stdout.split())

    for name in Settings.model_fields:
        assert (flag_of(name) in options) is not is_secret(name)
        assert is_secret(name) or f"env var: {variable_of(name)}]" in helped
    assert "[default: 8080; env var: ONCEGATE_PORT]" in helped
    assert "[default: 2592000; env var: ONCEGATE_RETENTION_S]" in helped
    assert "[env var: ONCEGATE_ISSUERS]" in helped


def test_what_can_be_chosen_is_shown() -> None:
    """In place of VALUE."""
    helped = " ".join(run("serve", "--help").stdout.split())

    assert "--rows grouped|sync" in helped
    assert "--log-level debug|info|warning|error" in helped


def test_options_that_were_not_given_set_nothing() -> None:
    """Nothing, and an empty list, leave the other sources alone."""
    loaded = load_settings({"port": None, "allow_private": (), "config": None, "waiters": "3"})

    assert (loaded.sources["port"], loaded.sources["allow_private"], loaded.sources["waiters"]) == (
        "default",
        "default",
        "--waiters",
    )


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--attempt-spans"], True),
        (["--no-attempt-spans"], False),
        (["--allow-private", "a:1", "--allow-private", "b:2"], ["a:1", "b:2"]),
    ],
)
def test_switches_and_lists_are_given_as_usual(words: list[str], shown: object) -> None:
    """`--no-x` switches off; an option given twice is a list."""
    import json  # noqa: PLC0415 - only here

    entries = json.loads(run("config", "show", "--json", *words).stdout)

    assert [entry["value"] for entry in entries.values() if entry["source"].startswith("--")] == [shown]


def test_a_value_that_cannot_be_used_is_code_2() -> None:
    """The sentence names the option; there is no traceback."""
    result = run("config", "show", "--lease-s", "soon")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: --lease-s cannot be used")
