"""`oncegate config`."""

import json
from pathlib import Path

import pytest

from gateway.settings import Settings
from tests.gateway.cli.run import run

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"
KEY = "k1:" + "q8Zr" * 10 + "uT0="


def test_every_setting_is_shown_with_its_source() -> None:
    """Value and source of each, for people and for programs."""
    table = run("config", "show", environment={"ONCEGATE_LEASE_S": "5s"})
    document = json.loads(run("config", "show", "--json", environment={"ONCEGATE_LEASE_S": "5s"}).stdout)

    assert [line.split()[0] for line in table.stdout.splitlines()[1:]] == list(Settings.model_fields)
    assert document["lease_s"] == {"value": 5.0, "source": "ONCEGATE_LEASE_S"}
    assert document["port"] == {"value": 8080, "source": "default"}


def test_a_variable_that_is_no_setting_is_told_beside_them() -> None:
    """On standard error, so that JSON stays JSON."""
    shown = run("config", "show", "--json", environment={"ONCEGATE_PROT": "3"})

    assert shown.stderr == "warning: there is no setting ONCEGATE_PROT; did you mean ONCEGATE_PORT?\n"
    assert json.loads(shown.stdout)["port"]["source"] == "default"


def test_secrets_are_masked() -> None:
    """That there is one is shown, and from where; not what it is."""
    shown = run("config", "show", environment={"ONCEGATE_SEAL_KEY": KEY})

    assert KEY.split(":")[1] not in shown.output
    assert ["seal_key", "********", "ONCEGATE_SEAL_KEY"] in [line.split() for line in shown.stdout.splitlines()]


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        ("https://user:hunter2@host:4318/v1?token=hunter3", "https://********@host:4318/v1?********"),
        ("https://user:hunter?/2@host:4318/v1", "https://********@host:4318/v1"),
        ("https://host:4318/v1", "https://host:4318/v1"),
    ],
)
def test_credentials_in_a_url_are_masked(endpoint: str, shown: str) -> None:
    """A collector's user, password and token are secrets."""
    for as_json in ((), ("--json",)):
        result = run("config", "show", *as_json, environment={"ONCEGATE_OTLP_ENDPOINT": endpoint})
        assert shown in result.stdout
        assert "hunter" not in result.output


def test_the_page_is_current() -> None:
    """`oncegate config docs > docs/settings.md` has been run since the settings changed."""
    assert PAGE.read_text(encoding="utf-8") == run("config", "docs").stdout
