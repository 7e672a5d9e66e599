"""What is remembered of tokens."""

from pathlib import Path

import pytest

from gateway.adapters.oidc import proofs as module
from gateway.adapters.oidc.fetching import trust
from gateway.adapters.oidc.issuers import Issuer
from gateway.adapters.oidc.key_set import parse_key_set
from gateway.adapters.oidc.key_source import KeySource
from gateway.adapters.oidc.proofs import Proof, Proofs
from gateway.contract.call import Caller
from tests.clocks import ManualClock
from tests.gateway.adapters.oidc.issuer import LocalIssuer, ec_key, entry

KEY = ec_key("k1")


def proved(clock: ManualClock) -> Proof:
    """A proof that rests on a key of an issuer."""
    nobody = LocalIssuer("https://issuer.example", Path("unused"))
    source = KeySource(Issuer.model_validate(entry(nobody, ca_file=None)), trust(None), clock)
    source._keys = parse_key_set({"keys": [KEY.jwk]})
    source._got_at = source._tried_at = clock.monotonic()
    caller = Caller(subject="s", tenant="t")
    return Proof(caller=caller, source=source, kid="k1", key=source._keys["k1"], begins=10.0, ends=20.0)


@pytest.mark.parametrize(("now", "holds"), [(9.9, False), (10.0, True), (19.9, True), (20.0, False)])
def test_a_proof_has_its_time(now: float, holds: bool) -> None:  # noqa: FBT001
    """From the token's own times."""
    kept = Proofs()
    kept.keep("token", proof := proved(ManualClock()))

    assert kept.find("token", now) == (proof if holds else None)
    assert len(kept) == (1 if holds else 0)


def test_a_proof_goes_with_its_key() -> None:
    """One of the same name that was published since is another; so is the same one, said anew."""
    kept = Proofs()
    kept.keep("token", proof := proved(ManualClock()))
    proof.source._keys = parse_key_set({"keys": [KEY.jwk]})

    assert kept.find("token", 15.0) is None


async def test_a_proof_goes_when_nobody_asked_for_long() -> None:
    """As a token would that comes for the first time."""
    clock, kept = ManualClock(), Proofs()
    kept.keep("token", proved(clock))
    await clock.advance(1_200)

    assert kept.find("token", 15.0) is None


def test_there_is_room_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest makes room; no token is among what is kept."""
    monkeypatch.setattr(module, "MOST_PROOFS", 2)
    kept = Proofs()
    for token in ("one", "two", "three"):
        kept.keep(token, proved(ManualClock()))

    assert [kept.find(token, 15.0) is not None for token in ("one", "two", "three")] == [False, True, True]
    assert "three" not in repr(kept._proofs)
    kept.forget()
    assert len(kept) == 0
