"""The keys of one issuer: where they are, and what its faults leave behind."""

import logging
from typing import Any

import pytest

from gateway.adapters.oidc.fetching import trust
from gateway.adapters.oidc.issuers import Issuer
from gateway.adapters.oidc.key_source import KeySource
from tests.clocks import ManualClock
from tests.gateway.adapters.oidc.issuer import LocalIssuer, answer, ec_key, entry
from tests.gateway.adapters.oidc.test_fetching import says


def source_of(issuer: LocalIssuer, clock: ManualClock, **changes: Any) -> KeySource:
    """Its keys, as an operator configured it."""
    return KeySource(Issuer.model_validate(entry(issuer, **changes)), trust(issuer.ca_file), clock)


def is_asking(source: KeySource) -> bool:
    """Whether a question is under way."""
    return source._asking is not None


async def test_configured_addresses_need_no_discovery(issuer: LocalIssuer) -> None:
    """`jwks_uri` is asked, and the metadata is not."""
    source = source_of(issuer, ManualClock(), jwks_uri=f"{issuer.url}/keys")
    await source.ask()

    assert source.find("k1") is not None
    assert issuer.asked == ["/keys"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"jwks_uri": "http://localhost/keys"},
        {"jwks_uri": None},
        {"jwks_uri": ["https://localhost/keys"]},
    ],
)
async def test_metadata_of_another_issuer_lead_nowhere(issuer: LocalIssuer, metadata: dict[str, Any]) -> None:
    """The issuer must be the one that was asked, its keys behind TLS."""
    issuer.metadata |= metadata
    source = source_of(issuer, ManualClock())
    await source.ask()

    assert (source.find("k1"), source.failed) == (None, True)
    assert issuer.key_questions == 0


async def test_garbage_changes_nothing(issuer: LocalIssuer, caplog: pytest.LogCaptureFixture) -> None:
    """What was known serves on, and the log says once a question what was wrong, without what came."""
    clock = ManualClock()
    source = source_of(issuer, clock, jwks_uri=f"{issuer.url}/keys")
    await source.ask()
    issuer.manner = says(answer(b'{"keys": "PLANTED"}'))
    await clock.advance(700)
    with caplog.at_level(logging.WARNING, logger="oncegate.oidc"):
        await source.ask()

    assert source.find("k1") is not None
    assert source.failed
    assert [record.getMessage() for record in caplog.records] == [
        f"no keys from {issuer.url}: it is no JSON Web Key Set"
    ]


async def test_renewal_is_beside_the_call_and_not_too_often(issuer: LocalIssuer) -> None:
    """From `refresh` on, once in `cooldown`; never before."""
    clock = ManualClock()
    source = source_of(issuer, clock, jwks_uri=f"{issuer.url}/keys", refresh="60s", cooldown="10s")
    await source.ask()
    source.renew()
    assert not is_asking(source)
    issuer.keys = [ec_key("k2")]
    await issuer.stop()
    await clock.advance(60)
    for _ in range(2):
        source.renew()
        assert is_asking(source)
        await source.ask()
        source.renew()
        assert not is_asking(source)
        await clock.advance(10)
    assert source.find("k1") is not None


async def test_it_says_when_to_come_back(issuer: LocalIssuer) -> None:
    """What is left of `cooldown`, and a second at least."""
    clock = ManualClock()
    source = source_of(issuer, clock, cooldown="10s", jwks_uri="https://localhost:1/keys")
    await source.ask()
    await clock.advance(4)
    assert source.wait_s() == pytest.approx(6)
    await clock.advance(60)
    assert source.wait_s() == 1
