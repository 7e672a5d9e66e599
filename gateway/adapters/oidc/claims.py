"""From the claims of a verified token to a caller, by what the operator wrote; anything else in the token is ignored."""

import math
from collections.abc import Mapping
from typing import Any, Final

from gateway.adapters.oidc.issuers import Issuer
from gateway.contract.call import Caller, Token

_MOST_OF_A_NAME: Final = 255
_MOST_OF_A_TEXT: Final = 1024
_MOST_PERMISSIONS: Final = 256
_MOST_OF_AN_INTEGER: Final = 2**53 - 1


class ClaimsError(Exception):
    """The token is genuine, but nobody here. The message is a reason in the gateway's words."""


def caller_of(issuer: Issuer, claims: Mapping[str, Any]) -> Caller:
    """Who the token stands for.

    Raises:
        ClaimsError: subject or tenant are missing or not the issuer's to name.
    """
    subject = _at(claims, issuer.claims.subject)
    if not isinstance(subject, str) or not 0 < len(subject) <= _MOST_OF_A_NAME or not subject.isprintable():
        raise ClaimsError("it names no subject")
    return Caller(
        subject=issuer.subject_prefix + subject,
        tenant=_tenant(issuer, claims),
        permissions=issuer.permissions(_values(issuer, claims)),
        attributes=_attributes(issuer, claims),
    )


def token_of(issuer: Issuer, claims: Mapping[str, Any], *, kid: str, algorithm: str, thumbprint: str) -> Token:
    """What is remembered of the token itself; `thumbprint`: of the key that proved it."""
    said = claims.get("aud")
    named = said if isinstance(said, list) else [said]
    grants: dict[str, tuple[str, ...]] = {}
    for value in _values(issuer, claims):
        for permission in issuer.permissions((value,)):
            grants[permission] = (*grants.get(permission, ()), value)
    return Token(
        issuer=issuer.issuer,
        audience=tuple(it for it in issuer.audience if it in named),
        kid=kid,
        algorithm=algorithm,
        thumbprint=thumbprint,
        grants=grants,
    )


def still_granted(issuer: Issuer, tenant: str, subject: str, token: Token) -> frozenset[str]:
    """What the permissions that a token gave then are now, by what the operator writes of its issuer; its key aside."""
    speaks = tenant in issuer.tenants if issuer.claims.tenant is not None else tenant == issuer.tenants[0]
    meant = not set(issuer.audience).isdisjoint(token.audience)
    if not speaks or not meant or token.algorithm not in issuer.algorithms:
        return frozenset()
    if issuer.claims.permissions is None or not subject.startswith(issuer.subject_prefix):
        return frozenset()
    return frozenset(name for name, values in token.grants.items() if name in issuer.permissions(values))


def _tenant(issuer: Issuer, claims: Mapping[str, Any]) -> str:
    if issuer.claims.tenant is None:
        return issuer.tenants[0]
    tenant = _at(claims, issuer.claims.tenant)
    if not isinstance(tenant, str) or tenant not in issuer.tenants:
        raise ClaimsError("its issuer does not speak for the tenant it names")
    return tenant


def _values(issuer: Issuer, claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of the permissions claim."""
    if issuer.claims.permissions is None:
        return ()
    named = _at(claims, issuer.claims.permissions)
    if isinstance(named, str):
        # As OAuth 2.0 writes scopes (RFC 6749, section 3.3).
        named = named.split(" ")
    if not isinstance(named, list):
        return ()
    return tuple(name for name in named[:_MOST_PERMISSIONS] if isinstance(name, str) and name)


def _attributes(issuer: Issuer, claims: Mapping[str, Any]) -> Mapping[str, Any]:
    found = {name: _at(claims, path) for name, path in issuer.claims.attributes.items()}
    # What is missing or no single value is no attribute, and a rule that needs it says so.
    return {name: value for name, value in found.items() if _is_fact(value)}


def _is_fact(value: Any) -> bool:
    match value:
        case bool():
            return True
        case int():
            return abs(value) <= _MOST_OF_AN_INTEGER
        case float():
            return math.isfinite(value)
        case str():
            return len(value) <= _MOST_OF_A_TEXT
        case _:
            return False


def _at(claims: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(claims, Mapping):
            return None
        claims = claims.get(name)
    return claims
