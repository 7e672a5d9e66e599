"""The cipher of sealed texts, AES-256-GCM: imported where a seal key is configured.

Its library is eight megabytes of a process that seals nothing.
"""

from typing import final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


@final
class AesGcm:
    """A `Cipher` with one key of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def encrypt(self, nonce: bytes, text: bytes, bound_to: bytes) -> bytes:
        return self._cipher.encrypt(nonce, text, bound_to)

    def decrypt(self, nonce: bytes, sealed: bytes, bound_to: bytes) -> bytes:
        try:
            return self._cipher.decrypt(nonce, sealed, bound_to)
        except InvalidTag:
            raise ValueError("it does not open") from None
