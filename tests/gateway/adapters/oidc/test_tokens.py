"""Tokens: whom they prove, and every way in which they prove nobody."""

import asyncio
import base64
import inspect
import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adapters.oidc.issuers import IssuersError
from gateway.adapters.oidc.key_set import parse_key_set
from gateway.adapters.oidc.tokens import Tokens
from gateway.contract.call import Caller, Unproved
from gateway.contract.codes import ErrorCode
from gateway.stages.execute.approval.record import Decision
from tests.clocks import ManualClock
from tests.gateway.adapters.oidc.issuer import (
    NOW,
    LocalIssuer,
    SigningKey,
    ec_key,
    ed_key,
    entry,
    part,
    rsa_key,
    write,
)

UNKNOWN_KEY = "it is signed with a key that its issuer does not publish"


class Door:
    """`Tokens` over a file of issuers, with a clock under the test's hand."""

    def __init__(self, folder: Path, *entries: dict[str, Any]) -> None:
        self.clock = ManualClock()
        self.path = write(folder / "issuers.yaml", *entries)
        self.tokens = Tokens(self.path, self.clock, wall=self.clock.wall)

    async def ask(self, token: str) -> Caller | Unproved:
        """Who it proves, after whatever must be asked."""
        proof = self.tokens.authenticate(token)
        return await proof if inspect.isawaitable(proof) else proof

    async def reason(self, token: str) -> str | None:
        """Why it proves nobody."""
        proof = await self.ask(token)
        assert isinstance(proof, Unproved), proof
        return proof.reason if proof.code is ErrorCode.UNAUTHENTICATED else proof.code.value


async def test_a_genuine_token_is_a_caller(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Found by discovery; subject, tenant, permissions and attributes are what the operator says they are."""
    claims = {
        "subject": "agent",
        "permissions": ["realm", "roles"],
        "attributes": {"max_refund_paise": ["limits", "refund"], "customer_id": "customer"},
    }
    door = Door(tmp_path, entry(issuer, claims=claims))
    said: dict[str, Any] = {
        "agent": "a-1",
        "realm": {"roles": ["refunds:write", 5, "operator:breakers"]},
        "limits": {"refund": 200_000},
        "customer": ["not one value"],
        "max_refund_paise": 10**9,
    }

    assert await door.ask(issuer.token(**said)) == Caller(
        subject="a-1",
        tenant="acme",
        permissions=frozenset({"refunds:write"}),
        attributes={"max_refund_paise": 200_000},
    )
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]


async def test_known_keys_cost_no_question(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Once they are there, a token is proved in memory."""
    door = Door(tmp_path, entry(issuer))
    await door.ask(issuer.token())

    assert isinstance(door.tokens.authenticate(issuer.token(sub="another")), Caller)
    assert issuer.key_questions == 1


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": NOW - 31}, "it has expired"),
        ({"nbf": NOW + 31}, "it is not valid yet"),
        ({"iat": NOW + 31}, "it is not valid yet"),
        ({"exp": NOW + 90_000}, "it is valid for longer than its issuer may make it here"),
        ({"aud": "https://other.example"}, "it is meant for another audience"),
        ({"aud": None}, "it lacks one of exp, iat, iss and aud"),
        ({"exp": None}, "it lacks one of exp, iat, iss and aud"),
        ({"iat": None}, "it lacks one of exp, iat, iss and aud"),
        ({"exp": str(NOW + 60)}, "its times are no numbers"),
        ({"exp": True}, "its times are no numbers"),
        ({"iat": float("nan")}, "its times are no numbers"),
        ({"exp": float("inf")}, "its times are no numbers"),
        ({"nbf": "soon"}, "its times are no numbers"),
        ({"sub": None}, "it names no subject"),
        ({"sub": ""}, "it names no subject"),
        ({"sub": "a\nb"}, "it names no subject"),
        ({"sub": "a" * 256}, "it names no subject"),
        ({"iss": "https://evil.example"}, "its issuer is none of this gateway's"),
        ({"iss": None}, "its form is not that of a token"),
    ],
)
async def test_a_signed_token_may_prove_nobody(
    tmp_path: Path, issuer: LocalIssuer, claims: dict[str, Any], reason: str
) -> None:
    """Each claim that is missing, wrong or out of time has its reason."""
    door = Door(tmp_path, entry(issuer))

    assert await door.reason(issuer.token(**claims)) == reason


@pytest.mark.parametrize(
    "claims", [{"exp": NOW - 29}, {"nbf": NOW + 29}, {"iat": NOW + 29}, {"aud": ["x", "https://oncegate.example"]}]
)
async def test_clocks_may_differ_a_little(tmp_path: Path, issuer: LocalIssuer, claims: dict[str, Any]) -> None:
    """By `skew`, 30 s; and an audience may be one of several."""
    assert isinstance(await Door(tmp_path, entry(issuer)).ask(issuer.token(**claims)), Caller)


async def test_the_algorithm_is_the_operators(tmp_path: Path, issuer: LocalIssuer) -> None:
    """None, a shared secret made of the public key, and an algorithm that is not listed: all refused before any check."""
    key = rsa_key("r1")
    issuer.keys.append(key)
    door = Door(tmp_path, entry(issuer, algorithms=["RS256"]))
    pem = key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    claims = json.loads(base64.urlsafe_b64decode(issuer.token().split(".")[1] + "=="))
    unsigned = f"{part({'alg': 'none', 'kid': 'r1'})}.{part(claims)}."
    signing = f"{part({'alg': 'HS256', 'kid': 'r1'})}.{part(claims)}"
    shared = f"{signing}.{part(jwt.get_algorithm_by_name('HS256').sign(signing.encode(), pem))}"
    refused = "it is signed with an algorithm that its issuer may not use here"

    assert await door.reason(unsigned) == refused
    assert await door.reason(shared) == refused
    assert await door.reason(issuer.token()) == refused
    assert await door.reason(issuer.token(key, algorithm="PS256")) == refused
    assert issuer.asked == []
    assert isinstance(await door.ask(issuer.token(key, algorithm="RS256")), Caller)


async def test_a_key_is_for_its_own_algorithms(tmp_path: Path, issuer: LocalIssuer) -> None:
    """A key published for PS256 verifies no RS256, though the operator allows both; one of another kind neither."""
    key, edwards = rsa_key("r1", alg="PS256"), ed_key("e1")
    issuer.keys += [key, edwards]
    door = Door(tmp_path, entry(issuer, algorithms=["RS256", "PS256", "EdDSA", "ES256"]))

    assert (
        await door.reason(issuer.token(key, algorithm="RS256"))
        == "it is signed with an algorithm that its key is not for"
    )
    assert isinstance(await door.ask(issuer.token(key, algorithm="PS256")), Caller)
    assert isinstance(await door.ask(issuer.token(edwards, algorithm="EdDSA")), Caller)
    mixed = issuer.token(header={"kid": "r1"})
    assert await door.reason(mixed) == "it is signed with an algorithm that its key is not for"


async def test_a_forged_signature_is_none(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Signed by another key under the right name; changed afterwards; cut off."""
    door = Door(tmp_path, entry(issuer))
    forged = issuer.token(SigningKey(ec_key("x").private, {"kid": "k1"}))
    head, claims, signature = issuer.token().split(".")
    richer = part({**json.loads(base64.urlsafe_b64decode(claims + "==")), "sub": "root"})
    for token in (forged, f"{head}.{richer}.{signature}", f"{head}.{claims}.", f"{head}.{claims}.{signature}=!"):
        assert await door.reason(token) == "its signature or its form is not valid"


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"crit": ["exp2"], "exp2": 1}, "its signature or its form is not valid"),
        ({"typ": "logout+jwt"}, "it is not an access token"),
        ({"typ": "dpop+jwt"}, "it is not an access token"),
        ({"kid": "../../keys"}, UNKNOWN_KEY),
        ({"kid": "k" * 257}, "it does not name its key (kid)"),
        ({"kid": ""}, "it does not name its key (kid)"),
        ({"jku": "https://evil.example/keys", "kid": "k9"}, UNKNOWN_KEY),
    ],
)
async def test_a_header_decides_nothing(
    tmp_path: Path, issuer: LocalIssuer, header: dict[str, Any], reason: str
) -> None:
    """Extensions that must be understood are not; keys come from the issuer and nowhere else."""
    assert await Door(tmp_path, entry(issuer)).reason(issuer.token(header=header)) == reason


@pytest.mark.parametrize("kind", ["at+jwt", "application/at+jwt", "JWT", None])
async def test_access_tokens_may_say_that_they_are(tmp_path: Path, issuer: LocalIssuer, kind: str | None) -> None:
    """As RFC 9068 writes it, as most write it, or not at all."""
    assert isinstance(await Door(tmp_path, entry(issuer)).ask(issuer.token(header={"typ": kind})), Caller)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "..",
        "a.b.c.d",
        f"{part('text')}.{part({})}.x",
        f"{part({})}.{part([])}.x",
        f"{part(b'[' * 3000)}.{part(b'[' * 3000)}.x",
        f"{part(b'{' + bytes([255]))}.{part({})}.x",
        f"{part({'typ': ['JWT']})}.{part({})}.x",
        f"{part({'alg': ['ES256'], 'kid': 'k1'})}.{part({'iss': ['x']})}.x",
        "é.é.é",
    ],
)
async def test_garbage_is_nobody(tmp_path: Path, issuer: LocalIssuer, token: str) -> None:
    """Whatever stands where a token should; and the issuer is not asked."""
    door = Door(tmp_path, entry(issuer))
    proof = await door.ask(token)

    assert isinstance(proof, Unproved)
    assert (proof.code, issuer.asked) == (ErrorCode.UNAUTHENTICATED, [])


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_CLAIMS = st.dictionaries(st.sampled_from(["aud", "sub", "exp", "iat", "nbf", "tenant", "scope"]), _JSON)
_HEADERS = st.dictionaries(st.sampled_from(["typ", "crit", "b64", "zip"]), _JSON)


@pytest.fixture(scope="module")
def informed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokens, SigningKey]:
    """A door that has its issuer's keys already, and no issuer to ask."""
    key, nobody = ec_key("k1"), LocalIssuer("https://issuer.example", Path("unused"))
    claims = {"tenant": "tenant", "permissions": "scope"}
    door = Door(tmp_path_factory.mktemp("oidc"), entry(nobody, ca_file=None, claims=claims))
    source = door.tokens._issuers[nobody.url][1]
    source._keys = parse_key_set({"keys": [key.jwk]})
    source._got_at = source._tried_at = door.clock.monotonic()
    return door.tokens, key


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=200)
@given(claims=_CLAIMS, header=_HEADERS)
def test_no_claims_however_strange_raise(
    informed: tuple[Tokens, SigningKey], claims: dict[str, Any], header: dict[str, Any]
) -> None:
    """Even rightly signed ones: they prove a caller, or nobody."""
    tokens, key = informed
    signing = f"{part({'alg': 'ES256', 'kid': 'k1', **header})}.{part({'iss': 'https://issuer.example', **claims})}"
    signature = jwt.get_algorithm_by_name("ES256").sign(signing.encode(), key.private)

    assert isinstance(tokens.authenticate(f"{signing}.{part(signature)}"), Caller | Unproved)


async def test_a_rotated_key_is_asked_for_once(tmp_path: Path, issuer: LocalIssuer) -> None:
    """A new name of a key brings one question for all who wait; the old key goes when the issuer withdraws it."""
    door = Door(tmp_path, entry(issuer))
    old = issuer.token()
    await door.ask(old)
    await door.clock.advance(10)
    issuer.keys = [ec_key("k2")]
    new = issuer.token()
    proofs = await asyncio.gather(*(door.ask(new) for _ in range(20)))

    assert all(isinstance(proof, Caller) for proof in proofs)
    assert issuer.key_questions == 2
    assert await door.reason(old) == UNKNOWN_KEY


async def test_invented_keys_do_not_make_the_issuer_work(tmp_path: Path, issuer: LocalIssuer) -> None:
    """A hundred names of keys within `cooldown` are one question; genuine tokens are not held up."""
    door = Door(tmp_path, entry(issuer, cooldown="10s"))
    await door.ask(issuer.token())
    for number in range(100):
        assert await door.reason(issuer.token(header={"kid": f"no-{number}"})) == UNKNOWN_KEY
    assert issuer.key_questions == 1
    await door.clock.advance(10)
    assert await door.reason(issuer.token(header={"kid": "no"})) == UNKNOWN_KEY
    assert issuer.key_questions == 2


async def test_an_issuer_that_is_down(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Known keys serve on; an unknown one is `authentication_unavailable`, since it may be new; after `keep` all are."""
    door = Door(tmp_path, entry(issuer, refresh="60s", keep="1h"))
    await door.ask(issuer.token())
    await issuer.stop()
    await door.clock.advance(61)

    assert isinstance(await door.ask(issuer.token(now=door.clock.wall())), Caller)
    proof = await door.ask(issuer.token(header={"kid": "new"}, now=door.clock.wall()))
    assert isinstance(proof, Unproved)
    assert proof.code is ErrorCode.AUTHENTICATION_UNAVAILABLE
    assert proof.retry_after_s is not None
    assert 1 <= proof.retry_after_s <= 10
    await door.clock.advance(3540)
    assert await door.reason(issuer.token(now=door.clock.wall())) == "authentication_unavailable"


async def test_a_withdrawn_key_goes_with_the_next_renewal(tmp_path: Path, issuer: LocalIssuer) -> None:
    """After `refresh` the call is still served and keys are renewed beside it; what is withdrawn then is refused."""
    door = Door(tmp_path, entry(issuer, refresh="60s"))
    old = issuer.token(exp=NOW + 3000)
    await door.ask(old)
    issuer.keys = [ec_key("k2")]
    await door.clock.advance(59)
    assert isinstance(await door.ask(old), Caller)
    assert issuer.key_questions == 1
    await door.clock.advance(1)
    assert isinstance(door.tokens.authenticate(old), Caller)
    await door.tokens._issuers[issuer.url][1].ask()
    assert await door.reason(old) == UNKNOWN_KEY
    assert issuer.key_questions == 2


async def test_an_idle_gateway_asks_first(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Nobody asked for twice `refresh`: a key withdrawn meanwhile is not believed once more."""
    door = Door(tmp_path, entry(issuer, refresh="60s"))
    old = issuer.token(exp=NOW + 3000)
    await door.ask(old)
    issuer.keys = [ec_key("k2")]
    await door.clock.advance(120)

    assert await door.reason(old) == UNKNOWN_KEY


async def test_a_slow_issuer_holds_a_caller_no_longer_than_its_timeout(tmp_path: Path, issuer: LocalIssuer) -> None:
    """`timeout` ends the wait, and the next caller within `cooldown` does not wait at all."""
    issuer.manner = issuer.hang
    door = Door(tmp_path, entry(issuer, timeout="200ms"))
    async with asyncio.timeout(10):
        assert await door.reason(issuer.token()) == "authentication_unavailable"
    assert issuer.hung.is_set()
    proof = door.tokens.authenticate(issuer.token())
    assert isinstance(proof, Unproved)
    assert proof.code is ErrorCode.AUTHENTICATION_UNAVAILABLE


async def test_a_caller_that_goes_away_takes_nobody_along(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Who waits for the same question gets its answer."""
    arrived, gate = asyncio.Event(), asyncio.Event()
    ordinary = issuer._answer

    async def wait(writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await gate.wait()
        writer.write(ordinary("/keys"))

    issuer.manner = wait
    door = Door(tmp_path, entry(issuer, jwks_uri=f"{issuer.url}/keys"))
    first, second = (asyncio.create_task(door.ask(issuer.token())) for _ in range(2))
    await arrived.wait()
    first.cancel()
    gate.set()

    assert isinstance(await second, Caller)
    assert issuer.key_questions == 1


async def test_tenants_are_those_the_operator_bound(tmp_path: Path, issuer: LocalIssuer) -> None:
    """With several, a claim chooses among them and nothing else."""
    door = Door(tmp_path, entry(issuer, tenants=["acme", "globex"], claims={"tenant": "org"}))
    ours = await door.ask(issuer.token(org="globex"))

    assert isinstance(ours, Caller)
    assert ours.tenant == "globex"
    for org in ("initech", None, ["acme"], "ACME"):
        assert await door.reason(issuer.token(org=org)) == "its issuer does not speak for the tenant it names"


async def test_a_token_of_one_issuer_is_none_of_another(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Signed with a key of the one, naming the other: the other's keys decide."""
    other = LocalIssuer("https://localhost:1", issuer.ca_file, [ec_key("k1")])
    door = Door(tmp_path, entry(issuer), entry(other, tenants=["globex"], timeout="1s"))
    await door.ask(issuer.token())

    assert await door.reason(issuer.token(other.keys[0])) == "its signature or its form is not valid"
    assert await door.reason(issuer.token(iss=other.url)) == "authentication_unavailable"


async def test_grants_are_the_operators_word(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Roles become permissions as written, operators' ones too; a role that is not written gives nothing."""
    grants = {"refund-agent": ["refunds:write", "refunds:read"], "sre": "operator:breakers"}
    door = Door(tmp_path, entry(issuer, claims={"permissions": "scope"}, grants=grants))
    proof = await door.ask(issuer.token(scope="refund-agent sre refunds:approve"))

    assert isinstance(proof, Caller)
    assert proof.permissions == {"refunds:write", "refunds:read", "operator:breakers"}


async def test_subjects_of_issuers_are_kept_apart(tmp_path: Path, issuer: LocalIssuer) -> None:
    """By the prefix that the operator gives them."""
    proof = await Door(tmp_path, entry(issuer, subject_prefix="corp|")).ask(issuer.token())

    assert isinstance(proof, Caller)
    assert proof.subject == "corp|agent-7"


async def test_a_changed_file_is_taken_and_a_bad_one_not(tmp_path: Path, issuer: LocalIssuer) -> None:
    """What did not change keeps its keys."""
    door = Door(tmp_path, entry(issuer))
    token = issuer.token()
    await door.ask(token)
    door.path.write_text("issuers: []", encoding="utf-8")
    assert not door.tokens.reload()
    assert isinstance(door.tokens.authenticate(token), Caller)
    write(door.path, entry(issuer), entry(LocalIssuer("https://other.example", issuer.ca_file), tenants=["globex"]))
    assert door.tokens.reload()
    assert isinstance(door.tokens.authenticate(token), Caller)
    write(door.path, entry(issuer, audience="https://another.example"))
    assert door.tokens.reload()
    assert await door.reason(token) == "it is meant for another audience"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"issuer": "https://other.example", "tenants": ["globex"]}, "its issuer is none of this gateway's"),
        ({"audience": "https://another.example"}, "it is meant for another audience"),
        ({"algorithms": ["RS256"]}, "it is signed with an algorithm that its issuer may not use here"),
    ],
)
async def test_a_file_that_changes_during_a_question_decides(
    tmp_path: Path, issuer: LocalIssuer, changes: dict[str, Any], reason: str
) -> None:
    """What the issuer answers afterwards proves nobody by the terms of before, neither then nor later."""
    written = entry(issuer, jwks_uri=f"{issuer.url}/keys")
    door, token = Door(tmp_path, written), issuer.token()

    async def change(writer: asyncio.StreamWriter) -> None:
        write(door.path, {**written, **changes})
        assert door.tokens.reload()
        issuer.manner = None
        writer.write(issuer._answer("/keys"))

    issuer.manner = change

    assert await door.reason(token) == reason
    assert await door.reason(token) == reason


async def test_a_file_that_only_grows_during_a_question_changes_nothing(tmp_path: Path, issuer: LocalIssuer) -> None:
    """The issuer that was asked is still the same one, and is not asked again."""
    written = entry(issuer, jwks_uri=f"{issuer.url}/keys")
    door = Door(tmp_path, written)

    async def grow(writer: asyncio.StreamWriter) -> None:
        write(door.path, written, entry(LocalIssuer("https://other.example", issuer.ca_file), tenants=["globex"]))
        assert door.tokens.reload()
        writer.write(issuer._answer("/keys"))

    issuer.manner = grow

    assert isinstance(await door.ask(issuer.token()), Caller)
    assert issuer.key_questions == 1


async def test_a_certificate_file_that_is_none_stops_the_start(tmp_path: Path, issuer: LocalIssuer) -> None:
    """In one sentence."""
    (tmp_path / "empty.pem").write_text("")
    for name in ("missing.pem", "empty.pem"):
        with pytest.raises(IssuersError, match=rf"ca_file .*{name}: "):
            Door(tmp_path, entry(issuer, ca_file=str(tmp_path / name)))


@pytest.mark.parametrize(
    ("changes", "claims", "reason"),
    [
        ({"skew": "0s"}, {"exp": NOW}, "it has expired"),
        ({"skew": "0s"}, {"nbf": NOW + 1}, "it is not valid yet"),
        ({"max_lifetime": "1m"}, {"exp": NOW + 61}, "it is valid for longer than its issuer may make it here"),
    ],
)
async def test_the_operator_sets_the_times(
    tmp_path: Path, issuer: LocalIssuer, changes: dict[str, Any], claims: dict[str, Any], reason: str
) -> None:
    """`skew` and `max_lifetime` are bounds of the file, not of ours."""
    assert await Door(tmp_path, entry(issuer, **changes)).reason(issuer.token(**claims)) == reason


async def test_the_operator_sets_how_often_an_issuer_is_asked(tmp_path: Path, issuer: LocalIssuer) -> None:
    """`cooldown`."""
    door = Door(tmp_path, entry(issuer, cooldown="60s"))
    await door.ask(issuer.token())
    await door.clock.advance(59)
    await door.reason(issuer.token(header={"kid": "new"}, now=door.clock.wall()))
    assert issuer.key_questions == 1
    await door.clock.advance(1)
    await door.reason(issuer.token(header={"kid": "new"}, now=door.clock.wall()))
    assert issuer.key_questions == 2


async def test_a_token_that_was_proved_ends_when_it_ends(tmp_path: Path, issuer: LocalIssuer) -> None:
    """To the second, whoever sent it before; a clock that is set back does not make it valid early."""
    door = Door(tmp_path, entry(issuer, skew="0s"))
    token = issuer.token(exp=NOW + 10)
    assert isinstance(await door.ask(token), Caller)
    door.clock.step_wall(-1)
    assert await door.reason(token) == "it is not valid yet"
    door.clock.step_wall(10)
    assert isinstance(await door.ask(token), Caller)
    assert isinstance(await door.ask(token), Caller)
    await door.clock.advance(1)
    assert await door.reason(token) == "it has expired"


async def test_a_token_that_was_proved_is_the_same_caller(tmp_path: Path, issuer: LocalIssuer) -> None:
    """And one that differs by a letter is none of it; keys are renewed for it as for any other."""
    door = Door(tmp_path, entry(issuer, refresh="60s"))
    token = issuer.token(exp=NOW + 3000)
    first = await door.ask(token)
    assert door.tokens.authenticate(token) is first
    assert await door.reason(token[:-4] + ("AAAA" if not token.endswith("AAAA") else "BBBB"))
    await door.clock.advance(61)
    assert door.tokens.authenticate(token) is first
    await door.tokens._issuers[issuer.url][1].ask()
    assert issuer.key_questions == 2


# -- what somebody decided with a token ------------------------------------------------------------------------------

LEADS: dict[str, Any] = {
    "claims": {"permissions": "roles", "attributes": {"most": "most"}},
    "grants": {"lead": ["refunds:approve"], "head": ["refunds:approve", "orders:read"], "clerk": ["orders:read"]},
}


async def decided(door: Door, issuer: LocalIssuer, **claims: Any) -> Decision:
    """What is kept of a yes that a lead said just now with a token."""
    caller = await door.ask(issuer.token(**{"sub": "lead-1", "roles": ["lead", "clerk"], **claims}))
    assert isinstance(caller, Caller), caller
    return Decision(by=caller.subject, wall=door.clock.wall(), token=caller.token)


async def test_a_token_is_remembered_without_itself(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Issuer, audience, key and what gave each permission; nothing by which anybody could come with it."""
    door = Door(tmp_path, entry(issuer, **LEADS, audience=["https://oncegate.example", "https://second.example"]))
    token = issuer.token(roles=["lead", "head"], aud=["https://oncegate.example", "https://else.example"])
    caller = await door.ask(token)
    assert isinstance(caller, Caller)
    assert caller.token is not None
    kept = caller.token
    assert (kept.issuer, kept.audience) == (issuer.url, ("https://oncegate.example",))
    assert (kept.kid, kept.algorithm, len(kept.thumbprint)) == ("k1", "ES256", 64)
    assert kept.grants == {"refunds:approve": ("lead", "head"), "orders:read": ("head",)}
    assert not any(len(part) > 40 and part in repr(caller) for part in token.split("."))


async def test_a_decision_stands_while_its_issuer_would_prove_it_again(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Long after the token has expired: it was valid when it was said."""
    door = Door(tmp_path, entry(issuer, **LEADS))
    decision = await decided(door, issuer)
    await door.clock.advance(7_000)
    assert await door.tokens.ask(decision) is None
    assert door.tokens.today("acme", decision) == {"refunds:approve", "orders:read"}


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({}, {"refunds:approve", "orders:read"}),
        ({"issuer": "https://other.example"}, set()),
        ({"audience": "https://other.example"}, set()),
        ({"audience": ["https://other.example", "https://oncegate.example"]}, {"refunds:approve", "orders:read"}),
        ({"algorithms": ["RS256"]}, set()),
        ({"tenants": ["globex"]}, set()),
        (
            {"tenants": ["globex", "acme"], "claims": {**LEADS["claims"], "tenant": "org"}},
            {"refunds:approve", "orders:read"},
        ),
        ({"subject_prefix": "sso:"}, set()),
        ({"subject_prefix": "lead"}, {"refunds:approve", "orders:read"}),
        ({"grants": {"clerk": ["orders:read"]}}, {"orders:read"}),
        ({"grants": {"lead": ["orders:read"]}}, set()),
        ({"grants": {"clerk": ["refunds:approve"]}}, set()),
        ({"claims": {}, "grants": None}, set()),
        ({"decision_lifetime": "100s"}, {"refunds:approve", "orders:read"}),
        ({"decision_lifetime": "99s"}, set()),
    ],
)
async def test_what_the_operator_takes_back_takes_the_decision(
    tmp_path: Path, issuer: LocalIssuer, changes: dict[str, Any], left: set[str]
) -> None:
    """Another issuer, audience, algorithm, tenant, prefix, grant, or a shorter life of decisions, in the file as it is now."""
    door = Door(tmp_path, entry(issuer, **LEADS))
    decision = await decided(door, issuer)
    await door.clock.advance(99.5)
    changed = {**entry(issuer, **LEADS), **changes}
    write(door.path, {name: value for name, value in changed.items() if value is not None})
    assert door.tokens.reload()
    assert await door.tokens.ask(decision) is None
    assert door.tokens.today("acme", decision) == left


async def test_a_withdrawn_key_takes_what_it_proved(tmp_path: Path, issuer: LocalIssuer) -> None:
    """From the next renewal on; a new key beside it takes nothing, and neither does the same one under another text."""
    door = Door(tmp_path, entry(issuer, **LEADS, refresh="60s"))
    decision = await decided(door, issuer)
    issuer.keys = [ec_key("k2"), SigningKey(issuer.keys[0].private, {**issuer.keys[0].jwk, "use": "sig"})]
    await door.clock.advance(120)
    assert await door.tokens.ask(decision) is None
    assert door.tokens.today("acme", decision)

    issuer.keys = issuer.keys[:1]
    await door.clock.advance(60)
    assert await door.tokens.ask(decision) is None
    await door.tokens._issuers[issuer.url][1].ask()
    assert await door.tokens.ask(decision) is None
    assert door.tokens.today("acme", decision) == frozenset()
    assert issuer.key_questions == 3


async def test_another_key_under_the_name_of_a_withdrawn_one_proves_nothing(
    tmp_path: Path, issuer: LocalIssuer
) -> None:
    """The key counts, not its name; nor does one that is for another algorithm now."""
    door = Door(tmp_path, entry(issuer, **LEADS))
    decision = await decided(door, issuer)
    first = issuer.keys[0]
    for jwk, granted in ((ec_key("k1").jwk, False), ({**first.jwk, "alg": "ES256"}, True)):
        issuer.keys = [SigningKey(first.private, jwk)]
        await door.clock.advance(1_200)
        assert await door.tokens.ask(decision) is None
        assert bool(door.tokens.today("acme", decision)) is granted


async def test_a_gateway_that_has_just_begun_asks_before_it_judges(tmp_path: Path, issuer: LocalIssuer) -> None:
    """It knows no keys yet; the question is asked once, and what is published then counts."""
    decision = await decided(Door(tmp_path, entry(issuer, **LEADS)), issuer)
    begun = Door(tmp_path, entry(issuer, **LEADS))
    assert await begun.tokens.ask(decision) is None
    assert begun.tokens.today("acme", decision)
    assert await begun.tokens.ask(decision) is None
    assert issuer.key_questions == 2


async def test_an_issuer_that_is_down_withdraws_nothing(tmp_path: Path, issuer: LocalIssuer) -> None:
    """What it published counts for `keep`; after that, and for a gateway that never heard of it, nobody can say."""
    door = Door(tmp_path, entry(issuer, **LEADS, refresh="60s", keep="1h"))
    decision = await decided(door, issuer)
    await issuer.stop()
    await door.clock.advance(3_590)
    assert await door.tokens.ask(decision) is None
    assert door.tokens.today("acme", decision)
    await door.clock.advance(10)
    waits_s = [await it.tokens.ask(decision) for it in (door, Door(tmp_path, entry(issuer, **LEADS)))]
    assert all(wait_s is not None and 1 <= wait_s <= 10 for wait_s in waits_s)


async def test_a_file_that_changes_while_its_issuer_is_asked(tmp_path: Path, issuer: LocalIssuer) -> None:
    """The new terms come with no keys: they are asked for, too, before anybody judges by them."""
    decision = await decided(Door(tmp_path, entry(issuer, **LEADS)), issuer)
    begun = Door(tmp_path, entry(issuer, **LEADS, timeout="30s"))
    issuer.manner = issuer.hang
    asking = asyncio.ensure_future(begun.tokens.ask(decision))
    await issuer.hung.wait()
    write(begun.path, entry(issuer, **LEADS, timeout="29s"))
    assert begun.tokens.reload()
    issuer.manner = None
    issuer.let_go.set()

    assert await asking is None
    assert begun.tokens.today("acme", decision)
