"""Key sets: which keys of one may verify."""

from typing import Any

import pytest

from gateway.adapters.oidc.key_set import MOST_KEYS, KeySetError, parse_key_set
from tests.gateway.adapters.oidc.issuer import ec_key, ed_key, rsa_key

EC = ec_key("good").jwk


def test_each_kind_has_its_algorithms() -> None:
    """By type and curve; a key that names its algorithm has that one."""
    keys = parse_key_set({"keys": [EC, rsa_key("r").jwk, rsa_key("p", alg="PS384").jwk, ed_key("e").jwk]})

    assert {kid: sorted(key.algorithms) for kid, key in keys.items()} == {
        "good": ["ES256"],
        "r": ["PS256", "PS384", "PS512", "RS256", "RS384", "RS512"],
        "p": ["PS384"],
        "e": ["EdDSA"],
    }


@pytest.mark.parametrize(
    "useless",
    [
        "text",
        {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "kid": "o"},
        {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "alg": "RS256", "kid": "o"},
        {**EC, "kid": "enc", "use": "enc"},
        {**EC, "kid": "wrap", "key_ops": ["wrapKey"]},
        {**EC, "kid": "ops", "key_ops": "verify"},
        {**EC, "kid": 7},
        {**EC, "kid": "k" * 257},
        {name: value for name, value in EC.items() if name != "kid"},
        {**EC, "kid": "curve", "crv": "secp256k1"},
        {**EC, "kid": "curves", "crv": ["P-256"]},
        {**EC, "kid": "kind", "kty": ["EC"]},
        {**EC, "kid": "alg", "alg": "ES512"},
        {**EC, "kid": "hs", "alg": "HS256"},
        {**EC, "kid": "point", "x": "AA"},
        {**EC, "kid": "types", "x": 5},
        {"kty": "RSA", "kid": "rsa", "n": "", "e": ""},
        rsa_key("small", bits=1024).jwk,
    ],
)
def test_a_useless_key_is_left_out(useless: Any) -> None:
    """Shared secrets, keys for other uses, broken and weak ones; the rest of the set serves."""
    assert list(parse_key_set({"keys": [useless, EC]})) == ["good"]


@pytest.mark.parametrize(
    "document", [None, [], {}, {"keys": {}}, {"keys": []}, {"keys": [EC, EC]}, {"keys": [EC] * (MOST_KEYS + 1)}]
)
def test_what_is_no_key_set_is_refused(document: Any) -> None:
    """So is one without a usable key, one that names two alike, and one that is too large."""
    with pytest.raises(KeySetError):
        parse_key_set(document)


def test_a_key_is_not_shown() -> None:
    """What ends up in a log is the algorithms."""
    assert "public" not in repr(parse_key_set({"keys": [EC]}))
