"""Seals what callers sent and providers answered, so that the file alone tells nobody.

A sealed text is `1, length of the key id, key id, nonce (12 bytes), AES-256-GCM ciphertext`; an unsealed one is
`0, text`. The operation's key is authenticated with it: a text moved to another record does not open.
"""

import base64
import binascii
import os
import re
from dataclasses import dataclass, field
from typing import Final, Protocol, Self

from gateway.stages.execute.operation.ports import StoreUnfitError

_PLAIN: Final = 0
_SEALED: Final = 1
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_KEY_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,32}", re.ASCII)


class SealError(StoreUnfitError):
    """A stored text does not open: its key is not configured, is another one, or the text was changed."""


class Cipher(Protocol):
    """Encrypts under one key, with what the text is bound to."""

    def encrypt(self, nonce: bytes, text: bytes, bound_to: bytes) -> bytes:
        """The sealed text."""
        ...

    def decrypt(self, nonce: bytes, sealed: bytes, bound_to: bytes) -> bytes:
        """The text.

        Raises:
            ValueError: it was sealed with another key or bound to something else, or was changed.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealer:
    """Keys by id, the first of which seals. Without keys texts are kept as they are.

    Build it with `parse`. Its repr shows ids only.
    """

    current: str | None = None
    ciphers: dict[str, Cipher] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, setting: str) -> Self:
        """Read `id:base64,id:base64`: 32 bytes each; the first seals, all open. Empty: nothing is sealed.

        Raises:
            ValueError: an entry is malformed; the message names its place, never its text.
        """
        entries = [entry.strip() for entry in setting.split(",") if entry.strip()]
        ciphers: dict[str, Cipher] = {}
        for place, entry in enumerate(entries, start=1):
            key_id, colon, text = entry.partition(":")
            if not colon:
                raise ValueError(f"seal key {place}: it has no id before it")
            if not _KEY_ID.fullmatch(key_id) or key_id in ciphers:
                raise ValueError(f"seal key {place}: its id must be new and 1 to 32 of A-Z a-z 0-9 . _ -")
            ciphers[key_id] = _cipher(_key(text, place))
        return cls(current=next(iter(ciphers), None), ciphers=ciphers)

    def seal(self, text: bytes, *, bound_to: str) -> bytes:
        """The text as it is stored; it opens only for the same `bound_to`."""
        if self.current is None:
            return bytes((_PLAIN,)) + text
        key_id = self.current.encode()
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self.ciphers[self.current].encrypt(nonce, text, bound_to.encode())
        return bytes((_SEALED, len(key_id))) + key_id + nonce + sealed

    def open(self, stored: bytes, *, bound_to: str) -> bytes:
        """The text of `stored`.

        Raises:
            SealError: it does not open; the message names the key id.
        """
        key_id = key_id_of(stored)
        if key_id is None:
            if self.current is not None:
                raise SealError("a stored text is not sealed although a seal key is configured")
            return stored[1:]
        cipher = self.ciphers.get(key_id)
        if cipher is None:
            raise SealError(f"a stored text is sealed with key {key_id!r}, which is not configured")
        start = 2 + stored[1]
        nonce, sealed = stored[start : start + _NONCE_BYTES], stored[start + _NONCE_BYTES :]
        try:
            return cipher.decrypt(nonce, sealed, bound_to.encode())
        except ValueError:
            raise SealError(f"a stored text does not open with key {key_id!r}: another key, or changed") from None


def key_id_of(stored: bytes) -> str | None:
    """The id of the key that sealed `stored`; None when it is not sealed.

    Raises:
        SealError: it is neither.
    """
    if stored[:1] == bytes((_PLAIN,)):
        return None
    if stored[:1] != bytes((_SEALED,)) or len(stored) < 2:
        raise SealError("a stored text is neither sealed nor plain")
    return stored[2 : 2 + stored[1]].decode("ascii", "replace")


def _cipher(key: bytes) -> Cipher:
    from gateway.at_rest.aes_gcm import AesGcm  # noqa: PLC0415 - eight megabytes that only sealing needs

    return AesGcm(key)


def _key(text: str, place: int) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"seal key {place}: not base64") from None
    if len(key) != _KEY_BYTES:
        raise ValueError(f"seal key {place}: {len(key)} bytes instead of {_KEY_BYTES}")
    return key
