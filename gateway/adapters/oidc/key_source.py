"""The keys of one issuer as this process has them: renewed beside calls, asked for once more when a token names another.

An issuer that is down changes nothing for tokens whose key is known, for `keep` seconds. One that publishes a new key is
asked at most once in `cooldown` seconds, whoever sends tokens with invented names of keys.
"""

import asyncio
import logging
import ssl
from collections.abc import Mapping
from typing import Any, Final

from gateway.adapters.oidc.fetching import FetchError, fetch
from gateway.adapters.oidc.issuers import Issuer
from gateway.adapters.oidc.key_set import KeySetError, VerificationKey, parse_key_set
from gateway.clock import Clock

_log = logging.getLogger("oncegate.oidc")
_NEVER: Final = float("-inf")
_DISCOVERY: Final = "/.well-known/openid-configuration"


class KeySource:
    """Belongs to one event loop, from its first question on."""

    def __init__(self, issuer: Issuer, context: ssl.SSLContext, clock: Clock) -> None:
        self._issuer = issuer
        self._context = context
        self._clock = clock
        self._keys: Mapping[str, VerificationKey] = {}
        self._got_at = _NEVER
        self._tried_at = _NEVER
        self._asking: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<KeySource {self._issuer.issuer} {len(self._keys)} keys>"

    @property
    def failed(self) -> bool:
        """Whether the issuer could not be asked the last time, so that it may have published what is not known here."""
        return self._tried_at > self._got_at

    def find(self, kid: str) -> VerificationKey | None:
        """The key of that name, while what the issuer said last is still believed."""
        if self._clock.monotonic() - self._got_at >= self._issuer.keep:
            return None
        return self._keys.get(kid)

    def is_neglected(self) -> bool:
        """Whether nobody has asked for so long that a key withdrawn meanwhile would still be believed."""
        return self._clock.monotonic() - self._tried_at >= 2 * self._issuer.refresh

    def may_ask(self) -> bool:
        """Whether a question now would not be one too many; joining one under way never is."""
        return self._asking is not None or self._clock.monotonic() - self._tried_at >= self._issuer.cooldown

    def wait_s(self) -> float:
        """Until the issuer may be asked again."""
        return max(1.0, self._tried_at + self._issuer.cooldown - self._clock.monotonic())

    def renew(self) -> None:
        """Ask beside the call when it is time to; the keys there are serve meanwhile."""
        if self._clock.monotonic() - self._got_at >= self._issuer.refresh and self.may_ask():
            self._ask()

    async def ask(self) -> None:
        """Wait for an answer of the issuer, at most its `timeout`, together with everybody who waits."""
        await asyncio.shield(self._ask())

    def _ask(self) -> "asyncio.Task[None]":
        if self._asking is None:
            self._asking = asyncio.get_running_loop().create_task(self._renew())
            self._asking.add_done_callback(self._asked)
        return self._asking

    def _asked(self, task: "asyncio.Task[None]") -> None:
        self._asking = None
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("the keys of %s were not renewed", self._issuer.issuer, exc_info=error)

    async def _renew(self) -> None:
        began = self._tried_at = self._clock.monotonic()
        try:
            async with asyncio.timeout(self._issuer.timeout):
                keys = parse_key_set(await fetch(await self._address(), self._context, self._issuer.timeout))
        except TimeoutError:
            _log.warning("no keys from %s: no answer within %g s", self._issuer.issuer, self._issuer.timeout)
        except (FetchError, KeySetError) as why:
            _log.warning("no keys from %s: %s", self._issuer.issuer, str(why))
        else:
            self._keys, self._got_at = keys, began

    async def _address(self) -> str:
        """Where the keys are: as configured, or as the issuer's metadata says (OpenID Connect Discovery 1.0, section 4)."""
        if self._issuer.jwks_uri is not None:
            return self._issuer.jwks_uri
        told: Any = await fetch(self._issuer.issuer.rstrip("/") + _DISCOVERY, self._context, self._issuer.timeout)
        if not isinstance(told, dict) or told.get("issuer") != self._issuer.issuer:
            raise FetchError("its metadata is that of another issuer")
        address = told.get("jwks_uri")
        if not isinstance(address, str) or not address.startswith("https://"):
            raise FetchError("its metadata names no https address of keys")
        return address
