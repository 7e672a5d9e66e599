"""A JSON Web Key Set (RFC 7517) as the keys that may verify a token: public, large enough, each with its algorithms."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MOST_KEYS: Final = 64
MOST_OF_A_KID: Final = 256
_LEAST_RSA_BITS: Final = 2048
_RSA: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_FITTING: Final[Mapping[tuple[str, str | None], frozenset[str]]] = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
"""What a key of a type and curve can verify. Shared secrets (`oct`) are not in it: whoever publishes one shares it with all."""


class KeySetError(Exception):
    """An answer that is no key set. One sentence without its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationKey:
    """One public key and the algorithms that it may be used with. `thumbprint`: of the key itself, by which one knows it again."""

    public: Any = field(repr=False)
    algorithms: frozenset[str]
    thumbprint: str


def parse_key_set(document: Any) -> Mapping[str, VerificationKey]:
    """The usable keys by their `kid`. A key of another kind or use is left out; so is one without a `kid`.

    Raises:
        KeySetError: the document is no key set, or none of its keys can be used.
    """
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise KeySetError("it is no JSON Web Key Set")
    if len(listed) > MOST_KEYS:
        raise KeySetError(f"it has more than {MOST_KEYS} keys")
    keys: dict[str, VerificationKey] = {}
    for jwk in listed:
        key = _key(jwk)
        if key is None:
            continue
        if jwk["kid"] in keys:
            raise KeySetError("two of its keys have the same kid")
        keys[jwk["kid"]] = key
    if not keys:
        raise KeySetError("none of its keys can verify a signature")
    return keys


def _key(jwk: Any) -> VerificationKey | None:
    if not isinstance(jwk, dict) or jwk.get("use", "sig") != "sig":
        return None
    operations = jwk.get("key_ops")
    if operations is not None and (not isinstance(operations, list) or "verify" not in operations):
        return None
    kid = jwk.get("kid")
    if not isinstance(kid, str) or not 0 < len(kid) <= MOST_OF_A_KID:
        return None
    kind, curve = jwk.get("kty"), jwk.get("crv")
    if not isinstance(kind, str) or not (curve is None or isinstance(curve, str)):
        return None
    fitting = _FITTING.get((kind, None if kind == "RSA" else curve), frozenset())
    if "alg" in jwk:
        fitting = fitting & {str(jwk["alg"])}
    if not fitting:
        return None
    # Only what is public of it: a set that publishes a private key by mistake is not made use of.
    published = {name: value for name, value in jwk.items() if name in {"kty", "crv", "n", "e", "x", "y"}}
    try:
        public = jwt.PyJWK(published, algorithm=next(iter(fitting))).key
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
        return None
    if isinstance(public, RSAPublicKey) and public.key_size < _LEAST_RSA_BITS:
        return None
    # Of the key, not of the text (RFC 7638): what an issuer writes in another way is still the same key.
    text = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return VerificationKey(public=public, algorithms=fitting, thumbprint=hashlib.sha256(text).hexdigest())
