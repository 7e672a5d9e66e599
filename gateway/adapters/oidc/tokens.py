"""Bearer tokens in JWT form (RFC 7519), checked as RFC 8725 advises: issuer first, then everything as the operator fixed it.

The token only names its issuer and its key. Which algorithm, audience, tenant and lifetime are acceptable is written in
the file of issuers; what the token says about these is compared, never followed.
"""

import base64
import json
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import jwt

from gateway.adapters.oidc.claims import ClaimsError, caller_of, still_granted, token_of
from gateway.adapters.oidc.fetching import trust
from gateway.adapters.oidc.issuers import Issuer, IssuersError, read_issuers
from gateway.adapters.oidc.key_set import MOST_OF_A_KID, VerificationKey
from gateway.adapters.oidc.key_source import KeySource
from gateway.adapters.oidc.proofs import Proof, Proofs
from gateway.clock import Clock
from gateway.contract.call import Caller, Unproved
from gateway.contract.codes import ErrorCode
from gateway.stages.execute.approval.record import Decision

_log = logging.getLogger("oncegate.oidc")
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""An access token (RFC 9068) or one that does not say; a logout token or a proof of possession is none."""
_OPTIONS: Final[Mapping[str, Any]] = {
    "require": ["exp", "iat", "iss", "aud"],
    # By our own clock, below.
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_sub": False,
    "verify_jti": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What a token says before anything of it is proved."""

    issuer: str
    kid: str
    algorithm: str


class Tokens:
    """`authenticate` for JWTs. `reload` takes a changed file; a bad one keeps the old issuers and says so."""

    def __init__(self, path: Path, clock: Clock, *, wall: Callable[[], float]) -> None:
        """`wall`: seconds since 1970 UTC, for what is valid when.

        Raises:
            IssuersError: the file cannot be used.
        """
        self._path = path
        self._clock = clock
        self._wall = wall
        self._issuers: dict[str, tuple[Issuer, KeySource]] = {}
        self._proofs = Proofs()
        self._take(read_issuers(path))

    def __repr__(self) -> str:
        return f"<Tokens of {len(self._issuers)} issuers>"

    def authenticate(self, token: str) -> Caller | Unproved | Awaitable[Caller | Unproved]:
        """Who a token stands for; an awaitable where its issuer must be asked for keys first. Never raises."""
        proof = self._proofs.find(token, self._wall())
        if proof is not None:
            proof.source.renew()
            return proof.caller
        named = _named(token)
        if isinstance(named, Unproved):
            return named
        issuer, source = self._issuers.get(named.issuer, (None, None))
        if issuer is None or source is None:
            return _no("its issuer is none of this gateway's")
        if named.algorithm not in issuer.algorithms:
            return _no("it is signed with an algorithm that its issuer may not use here")
        key = source.find(named.kid)
        if (key is None or source.is_neglected()) and source.may_ask():
            return self._asked(token, named, issuer, source)
        source.renew()
        return self._proved(token, named, issuer, source)

    def today(self, tenant: str, decision: Decision) -> frozenset[str]:
        """Which of the permissions that the token of a decision gave then it would give now."""
        token = decision.token
        issuer, source = (None, None) if token is None else self._issuers.get(token.issuer, (None, None))
        if token is None or issuer is None or source is None:
            return frozenset()
        key = source.find(token.kid)
        if key is None or key.thumbprint != token.thumbprint or token.algorithm not in key.algorithms:
            return frozenset()
        if issuer.decision_lifetime is not None and self._wall() - decision.wall >= issuer.decision_lifetime:
            return frozenset()
        return still_granted(issuer, tenant, decision.by, token)

    async def ask(self, decision: Decision) -> float | None:
        """Ask the issuer of a decision's token for its keys, where that cannot be put off; seconds until it may be told."""
        token = decision.token
        while token is not None and (entry := self._issuers.get(token.issuer)) is not None:
            _, source = entry
            if (source.find(token.kid) is None or source.is_neglected()) and source.may_ask():
                await source.ask()
            else:
                source.renew()
            # An entry of the file that was changed meanwhile has no keys yet.
            if self._issuers.get(token.issuer) == entry:
                # A key that is not there may be one that the issuer still publishes, where it could not be asked.
                return source.wait_s() if source.find(token.kid) is None and source.failed else None
        return None

    def reload(self) -> bool:
        """Take the file as it is now. False: it cannot be used, and the old issuers stay."""
        try:
            self._take(read_issuers(self._path))
        except IssuersError as wrong:
            # A word, and so readable in the log: the file holds no secret.
            _log.error("issuers not reloaded, the known ones stay: %s", str(wrong))
            return False
        return True

    def _take(self, issuers: tuple[Issuer, ...]) -> None:
        taken: dict[str, tuple[Issuer, KeySource]] = {}
        for issuer in issuers:
            before = self._issuers.get(issuer.issuer)
            if before is not None and before[0] == issuer:
                taken[issuer.issuer] = before
                continue
            try:
                context = trust(issuer.ca_file)
            except OSError as wrong:
                reason = wrong.strerror or "it holds no certificate"
                raise IssuersError(f"{self._path}: ca_file {issuer.ca_file}: {reason}.") from None
            taken[issuer.issuer] = issuer, KeySource(issuer, context, self._clock)
        self._issuers = taken
        self._proofs.forget()

    async def _asked(self, token: str, named: _Named, issuer: Issuer, source: KeySource) -> Caller | Unproved:
        await source.ask()
        # The file may have been changed meanwhile: an issuer that was struck, or has other terms, is not believed as before.
        if self._issuers.get(named.issuer) == (issuer, source):
            return self._proved(token, named, issuer, source)
        proof = self.authenticate(token)
        return await proof if isinstance(proof, Awaitable) else proof

    def _proved(self, token: str, named: _Named, issuer: Issuer, source: KeySource) -> Caller | Unproved:
        key = source.find(named.kid)
        if key is None:
            if source.failed:
                return Unproved(code=ErrorCode.AUTHENTICATION_UNAVAILABLE, retry_after_s=source.wait_s())
            return _no("it is signed with a key that its issuer does not publish")
        if named.algorithm not in key.algorithms:
            return _no("it is signed with an algorithm that its key is not for")
        try:
            claims = _verified(token, key, named, issuer)
            times = _times(claims, issuer, self._wall())
            if isinstance(times, Unproved):
                return times
            signed = {"kid": named.kid, "algorithm": named.algorithm, "thumbprint": key.thumbprint}
            caller = replace(caller_of(issuer, claims), token=token_of(issuer, claims, **signed))
        except jwt.InvalidAudienceError:
            return _no("it is meant for another audience")
        except jwt.MissingRequiredClaimError:
            return _no("it lacks one of exp, iat, iss and aud")
        except ClaimsError as nobody:
            return _no(str(nobody))
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError, OverflowError):
            return _no("its signature or its form is not valid")
        begins, ends = times
        proof = Proof(caller=caller, source=source, kid=named.kid, key=key, begins=begins, ends=ends)
        self._proofs.keep(token, proof)
        return caller


def _verified(token: str, key: VerificationKey, named: _Named, issuer: Issuer) -> Mapping[str, Any]:
    claims: Mapping[str, Any] = jwt.decode(
        token,
        key.public,
        algorithms=[named.algorithm],
        audience=list(issuer.audience),
        issuer=issuer.issuer,
        options=_OPTIONS,  # type: ignore[arg-type]  # as the library reads it
    )
    return claims


def _times(claims: Mapping[str, Any], issuer: Issuer, now: float) -> tuple[float, float] | Unproved:
    """From when to when it is valid here, the clocks' difference allowed for."""
    expires, issued = _moment(claims["exp"]), _moment(claims["iat"])
    not_before = _moment(claims["nbf"]) if "nbf" in claims else issued
    if expires is None or issued is None or not_before is None:
        return _no("its times are no numbers")
    begins, ends = max(not_before, issued) - issuer.skew, expires + issuer.skew
    if ends <= now:
        return _no("it has expired")
    if begins > now:
        return _no("it is not valid yet")
    if expires - issued > issuer.max_lifetime:
        return _no("it is valid for longer than its issuer may make it here")
    return begins, ends


def _moment(value: Any) -> float | None:
    """A NumericDate (RFC 7519, section 2)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e12 or math.isnan(value):
        return None
    return float(value)


def _named(token: str) -> _Named | Unproved:
    parts = token.split(".")
    if len(parts) != 3:
        return Unproved(code=ErrorCode.UNAUTHENTICATED)
    header, claims = _object(parts[0]), _object(parts[1])
    if header is None or claims is None:
        return _no("its form is not that of a token")
    kind = header.get("typ")
    if kind is not None and (not isinstance(kind, str) or kind.lower() not in _TYPES):
        return _no("it is not an access token")
    issuer, kid, algorithm = claims.get("iss"), header.get("kid"), header.get("alg")
    if not isinstance(issuer, str) or not isinstance(algorithm, str):
        return _no("its form is not that of a token")
    if not isinstance(kid, str) or not 0 < len(kid) <= MOST_OF_A_KID:
        return _no("it does not name its key (kid)")
    return _Named(issuer=issuer, kid=kid, algorithm=algorithm)


def _object(part: str) -> dict[str, Any] | None:
    try:
        value = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), b"-_", validate=True))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no(reason: str) -> Unproved:
    return Unproved(code=ErrorCode.UNAUTHENTICATED, reason=reason)
