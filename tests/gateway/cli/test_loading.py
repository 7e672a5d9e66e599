"""Flag over environment over file over default."""

import re
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.loading import example_of, load, unread_variables
from gateway.settings import SECRETS, Settings, SettingsError, is_secret, variable_of

KEY = "k1:" + "q8Zr" * 10 + "uT0="
# For every setting a value that is not its default, as text.
OTHER = {
    "manifests": "other",
    "store": "memory://",
    "store_wait": "1",
    "keys": "other.json",
    "manifest_env": "A,B",
    "secrets_dir": "secrets",
    "host": "0.0.0.0",
    "port": "9",
    "allowed_hosts": "a,b",
    "allowed_origins": "https://a,https://b",
    "public_url": "https://gate.example.com",
    "authorization_servers": "https://login.example.com",
    "request_bytes": "2KiB",
    "header_bytes": "2KiB",
    "body_timeout_s": "1s",
    "drain_notice_s": "1s",
    "drain_grace_s": "1s",
    "reload_interval_s": "2s",
    "lease_s": "1s",
    "waiters": "1",
    "sweep_interval_s": "1s",
    "retention_s": "1h",
    "rows_retention_s": "1h",
    "rows": "sync",
    "caller_rate": "5/s",
    "tenant_rate": "5/s,9/d",
    "issuers": "issuers.yaml",
    "accept_host": "true",
    "allow_volatile": "true",
    "allow_private": "a:1",
    "mcp_commands": "server",
    "redis_password_env": "OTHER_PASSWORD",
    "seal_key_env": "OTHER_SEAL",
    "argument_hash_key_env": "OTHER_HASH",
    "otlp_endpoint": "http://c",
    "metric_interval_s": "1s",
    "sample_ratio": "0.5",
    "server_spans": "true",
    "inbound_trace": "link",
    "attempt_spans": "false",
    "capture": "true",
    "log_level": "debug",
    "log_calls": "all",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory without a settings file."""
    monkeypatch.chdir(tmp_path)


def test_every_setting_has_another_value_here() -> None:
    """The table above is whole, so that the tests below are."""
    assert set(OTHER) == {name for name in Settings.model_fields if not is_secret(name)}


@pytest.mark.parametrize("name", OTHER)
def test_every_setting_can_be_given_in_every_way(name: str, tmp_path: Path) -> None:
    """Flag, variable and file all reach the setting, and its default is another value."""
    by_default = getattr(Settings(), name)
    file = tmp_path / "a.yaml"
    file.write_text(f'{name}: "{OTHER[name]}"\n')

    by_flag = load({name: OTHER[name]}, {})
    by_variable = load({}, {variable_of(name): OTHER[name]})
    by_file = load({}, {}, file)

    assert getattr(by_flag.settings, name) != by_default
    assert getattr(by_flag.settings, name) == getattr(by_variable.settings, name) == getattr(by_file.settings, name)
    assert by_variable.sources[name] == variable_of(name)
    assert by_file.sources[name] == str(file)
    assert load({}, {}).sources[name] == "default"


def test_flag_over_variable_over_file(tmp_path: Path) -> None:
    """Each source gives way to the one before it, setting by setting."""
    (tmp_path / "oncegate.yaml").write_text("port: 1\nlease_s: 1\nwaiters: 1\n")

    loaded = load({"port": "3"}, {"ONCEGATE_PORT": "2", "ONCEGATE_LEASE_S": "2"})

    assert (loaded.settings.port, loaded.settings.lease_s, loaded.settings.waiters) == (3, 2, 1)
    assert (loaded.sources["port"], loaded.sources["lease_s"], loaded.sources["waiters"]) == (
        "--port",
        "ONCEGATE_LEASE_S",
        "oncegate.yaml",
    )


def test_a_variable_names_the_file(tmp_path: Path) -> None:
    """ONCEGATE_CONFIG is `--config` for containers; a file that was named must be there."""
    (tmp_path / "a.yaml").write_text("port: 1\n")

    assert load({}, {"ONCEGATE_CONFIG": str(tmp_path / "a.yaml")}).settings.port == 1
    with pytest.raises(SettingsError, match="cannot be read"):
        load({}, {"ONCEGATE_CONFIG": str(tmp_path / "b.yaml")})


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_comes_from_the_variable_that_is_named(name: str) -> None:
    """By default ONCEGATE_ and the secret's name, as in ONCEGATE_SEAL_KEY; another one if the setting says so."""
    usual = load({}, {f"ONCEGATE_{name.upper()}": KEY})
    named = load({f"{name}_env": "MY_KEY"}, {"MY_KEY": KEY, f"ONCEGATE_{name.upper()}": "another-key-of-length"})

    assert getattr(usual.settings, name).get_secret_value() == KEY
    assert getattr(named.settings, name).get_secret_value() == KEY
    assert named.sources[name] == "MY_KEY"


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    """A file of comments is no mistake."""
    (tmp_path / "oncegate.yaml").write_text("# nothing yet\n")

    assert load({}, {}).settings == Settings()


def test_kubernetes_does_not_set_our_port() -> None:
    """A service called oncegate puts its address into ONCEGATE_PORT of every pod; that is no port."""
    assert load({}, {"ONCEGATE_PORT": "tcp://10.0.0.1:80"}).settings.port == 8080


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("ONCEGATE_PROT", ["there is no setting ONCEGATE_PROT; did you mean ONCEGATE_PORT?"]),
        (
            "ONCEGATE_ALLOW_PRIVAT",
            ["there is no setting ONCEGATE_ALLOW_PRIVAT; did you mean ONCEGATE_EGRESS_ALLOW_PRIVATE?"],
        ),
        ("ONCEGATE_XYZZY_QQ_XYZZY_QQ", ["there is no setting ONCEGATE_XYZZY_QQ_XYZZY_QQ."]),
        ("ONCEGATE_MY_SEALS", []),
        ("ONCEGATE_AN_ADDRESS", []),
        ("ONCEGATE_SERVICE_HOST", []),
        ("ONCEGATE_REDIS_SERVICE_PORT_HTTP", []),
        ("ONCEGATE_REDIS_PORT_6379_TCP_ADDR", []),
        ("ONCEGATED", []),
    ],
)
def test_a_variable_that_is_no_setting_is_told(variable: str, told: list[str]) -> None:
    """With the nearest name; not one that a setting names, nor one that Kubernetes made of a service."""
    loaded = load({"seal_key_env": "ONCEGATE_MY_SEALS", "manifest_env": "ONCEGATE_AN_ADDRESS"}, {variable: KEY})

    assert list(loaded.unread) == told


def test_no_variable_that_anything_of_ours_reads_is_told() -> None:
    """Whatever stands in the sources as the name of a variable is a setting's, or in the list."""
    found = {
        name
        for package in ("gateway", "agent_client", "examples", "bench", "tests/crash")
        for file in sorted((Path(__file__).parents[3] / package).rglob("*.py"))
        for name in re.findall(r"\bONCEGATE_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8"))
    }

    assert found > {"ONCEGATE_KEY", "ONCEGATE_DEBUG", "ONCEGATE_SEAL_KEY", "ONCEGATE_CRASH_KILLS"}
    assert list(unread_variables(dict.fromkeys(found, "1"), Settings())) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("prot: 1\n", "there is no setting prot; did you mean port?"),
        ("- a\n", "must hold settings"),
        ("port: 1\nstore: memory://\nport: 2\n", "port is given twice, again at line 3."),
        ("lease_s: 5 s\n", "write number and unit without a space, as in 5s"),
        ("seal_key: abc\n", "comes from the environment"),
        ("port: [\n", "is not YAML: did not find expected node content, at line 2, column 1."),
        ("port: !!python/name:os.system\n", "is not YAML"),
        ("port: many\n", "oncegate.yaml cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    """The sentence names the file and what to mend."""
    (tmp_path / "oncegate.yaml").write_text(text)

    with pytest.raises(SettingsError, match=r"oncegate\.yaml") as refused:
        load({}, {})

    assert complaint.removeprefix("oncegate.yaml ") in str(refused.value)


@pytest.mark.parametrize(
    "name", [name for name, field in Settings.model_fields.items() if "pattern" in repr(field) and not is_secret(name)]
)
def test_what_has_a_form_is_explained_by_an_example(name: str) -> None:
    """Not by its pattern; and the example is one that is taken."""
    with pytest.raises(SettingsError) as refused:
        load({name: "a b"}, {})
    words = str(refused.value).partition(f" {name}: ")[0]

    assert words.endswith(f"cannot be used: it is not written as it has to be, as in {example_of(name)}.")
    for example in re.findall(r"`([^`]+)`", example_of(name)):
        load({name: example}, {})


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("store", "foo://x", "as in `sqlite:///oncegate.db` or `redis://localhost:6379/0`. store: "),
        ("caller_rate", "5", "it is not written as it has to be, as in `600/m` or `50/s,20000/d`. caller_rate: "),
        ("allow_private", "foo", "as in `127.0.0.1:9000`. allow_private: "),
        ("lease_s", "x", "it has to be a number, as in `15s` or `250ms`. lease_s: "),
        ("port", "99999", "it has to be 65535 or less. port: "),
        ("rows", "x", "it has to be `grouped` or `sync`. rows: "),
    ],
)
def test_a_complaint_says_what_would_be_right(name: str, given: str, words: str) -> None:
    """In words and by an example."""
    with pytest.raises(SettingsError, match="cannot be used: ") as refused:
        load({name: given}, {})

    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("flags", "environment", "source"),
    [({"lease_s": "x"}, {}, "--lease-s"), ({}, {"ONCEGATE_LEASE_S": "x"}, "ONCEGATE_LEASE_S")],
)
def test_a_complaint_names_where_the_value_came_from(
    flags: dict[str, Any], environment: dict[str, str], source: str
) -> None:
    """Whoever reads it knows which of the three places to mend."""
    with pytest.raises(SettingsError, match=source):
        load(flags, environment)


def test_a_complaint_about_a_secret_does_not_hold_it() -> None:
    """What was in the variable stays out of the terminal."""
    with pytest.raises(SettingsError) as refused:
        load({}, {"ONCEGATE_SEAL_KEY": "hunter2"})

    assert "hunter2" not in str(refused.value)
    assert "ONCEGATE_SEAL_KEY" in str(refused.value)
