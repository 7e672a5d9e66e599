"""Settings: what a value may be."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.settings import Settings, flag_of, is_secret, variable_of

KEY = "k1:" + "q8Zr" * 10 + "uT0="


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15.0),
        ("250ms", 0.25),
        ("1.5s", 1.5),
        ("2m", 120.0),
        ("1h", 3600.0),
        ("15", 15.0),
        (15, 15.0),
        (2.5, 2.5),
    ],
)
def test_durations_have_a_unit_or_are_seconds(text: Any, seconds: float) -> None:
    """A name that ends in `_s` says what a bare number is."""
    assert Settings.model_validate({"lease_s": text}).lease_s == seconds


def test_a_space_before_the_unit_is_told() -> None:
    """Without one the value is taken; as it stands it looks like no quantity at all."""
    for name, text, right in (("lease_s", "2.5 s", "2.5s"), ("request_bytes", "64 KiB", "64KiB")):
        with pytest.raises(ValidationError, match=f"without a space, as in {right}"):
            Settings.model_validate({name: text})


@pytest.mark.parametrize(
    ("text", "size"), [("64KiB", 65536), ("1MiB", 1048576), ("2kB", 2000), ("2048", 2048), (4096, 4096)]
)
def test_sizes_have_a_unit_or_are_bytes(text: Any, size: int) -> None:
    """A name that ends in `_bytes` says what a bare number is."""
    assert Settings.model_validate({"request_bytes": text}).request_bytes == size


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("a:1,b:2", ("a:1", "b:2")),
        (["a:1", "b:2"], ("a:1", "b:2")),
        (("a:1,b:2",), ("a:1", "b:2")),
        ("", ()),
        (" a:1 , ", ("a:1",)),
    ],
)
def test_lists_come_from_commas_or_repetition(given: Any, value: tuple[str, ...]) -> None:
    """An option given twice, a variable with commas and a YAML list are the same list."""
    assert Settings.model_validate({"allow_private": given}).allow_private == value


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease_s": "15 parsecs"},
        {"lease_s": "soon"},
        {"lease_s": 0},
        {"lease_s": "0.1s"},
        {"lease_s": 3601},
        {"request_bytes": "1XiB"},
        {"request_bytes": 10},
        {"request_bytes": 67_108_865},
        {"header_bytes": "1kB"},
        {"header_bytes": 1_048_577},
        {"body_timeout_s": 0},
        {"body_timeout_s": 301},
        {"drain_grace_s": 0},
        {"drain_grace_s": 3601},
        {"drain_notice_s": -1},
        {"drain_notice_s": 601},
        {"reload_interval_s": -1},
        {"reload_interval_s": 86401},
        {"sweep_interval_s": 0},
        {"sweep_interval_s": 3601},
        {"waiters": -1},
        {"waiters": 10_001},
        {"retention_s": 1},
        {"rows_retention_s": 1},
        {"metric_interval_s": 0},
        {"metric_interval_s": 3601},
        {"sample_ratio": 1.5},
        {"sample_ratio": -0.5},
        {"port": 70000},
        {"port": -1},
        {"host": ""},
        {"store": "redis://user:password@localhost"},
        {"store": "redis+sentry://localhost"},
        {"store": "redis://"},
        {"store_wait": -1},
        {"store_wait": 17},
        {"redis_password_env": "a b"},
        {"store": "sqlite:///"},
        {"store": "oncegate.db"},
        {"allow_private": "localhost"},
        {"allow_private": "http://localhost:80"},
        {"manifest_env": "A-B"},
        {"seal_key_env": "a b"},
        {"rows": "never"},
        {"caller_rate": "50"},
        {"caller_rate": "1/s,2/s,3/s,4/s,5/s"},
        {"tenant_rate": "50/w"},
        {"tenant_rate": "1/s,2/s,3/s,4/s,5/s"},
        {"mcp_commands": ["a server"]},
        {"mcp_commands": "x" * 2049},
        {"public_url": "gateway.example"},
        {"public_url": "https://gateway.example/mcp"},
        {"inbound_trace": "yes"},
        {"log_level": "loud"},
        {"log_calls": "some"},
        {"otlp_endpoint": "collector:4318"},
        {"attempt_spans": "perhaps"},
        {"server_spans": "perhaps"},
        {"capture": "perhaps"},
        {"allow_volatile": "perhaps"},
        {"accept_host": "perhaps"},
        {"manifets": "x"},
    ],
)
def test_a_value_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    """Every setting has its range, and there are no others."""
    with pytest.raises(ValidationError):
        Settings.model_validate(wrong)


@pytest.mark.parametrize(
    "secret", ["", "   ", "changeme", "CHANGEME", "secret", "k1:changeme", "aaaaaaaaaaaaaaaaaaaaaa", "tooshort1"]
)
@pytest.mark.parametrize("name", ["seal_key", "argument_hash_key", "redis_password"])
def test_a_secret_that_anyone_would_guess_is_refused(name: str, secret: str) -> None:
    """An example value, one letter repeated or a short word protects nothing; the complaint does not repeat it."""
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({name: secret})

    assert "openssl rand" in refused.value.errors()[0]["msg"]


def test_the_advice_for_a_seal_key_has_its_form() -> None:
    """Its id and the text, where other secrets are the text alone."""
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({"seal_key": "abc"})

    assert refused.value.errors()[0]["msg"].endswith("with `echo k1:$(openssl rand -base64 32)`")


def test_a_secret_is_not_shown() -> None:
    """The settings' repr, which ends up in logs, hides them."""
    settings = Settings.model_validate({"seal_key": KEY, "argument_hash_key": KEY})

    assert settings.seal_key is not None
    assert settings.seal_key.get_secret_value() == KEY
    assert KEY not in repr(settings)


def test_settings_do_not_change() -> None:
    """One process has one set of settings."""
    with pytest.raises(ValidationError):
        setattr(Settings(), "port", 1)  # noqa: B010 - mypy would refuse it first


def test_the_defaults_are_safe() -> None:
    """Loopback only, no private egress, nothing volatile, no environment for manifests."""
    settings = Settings()

    assert (settings.host, settings.allow_private, settings.allow_volatile) == ("127.0.0.1", (), False)
    assert (settings.manifest_env, settings.manifests) == ((), Path("tool_manifests"))


def test_every_setting_has_its_names() -> None:
    """Option and variable are made from the setting's name; one variable is older than its option."""
    assert (flag_of("lease_s"), variable_of("lease_s")) == ("--lease-s", "ONCEGATE_LEASE_S")
    assert variable_of("allow_private") == "ONCEGATE_EGRESS_ALLOW_PRIVATE"
    assert [name for name in Settings.model_fields if is_secret(name)] == [
        "seal_key",
        "argument_hash_key",
        "redis_password",
    ]


def test_every_setting_is_described() -> None:
    """The documentation is made of the descriptions."""
    assert [name for name, field in Settings.model_fields.items() if not (field.description or "").endswith(".")] == []
