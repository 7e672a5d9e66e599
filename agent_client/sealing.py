"""Sealing of pending actions: AES-256-GCM, several keys for rotation, bound to the task and call they belong to.

Needs `cryptography`, which comes with the extra `oncegate[sealed]`. Any other means is an `agent_client.ports.Sealer`.
"""

import base64
import secrets
from collections.abc import Sequence
from typing import Any, Final

from agent_client.extras import installing

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12


def new_key() -> bytes:
    """A fresh key. Keep it where the checkpoints are not."""
    return secrets.token_bytes(KEY_BYTES)


class AesSealer:
    """A `Sealer` with the first key; opens with any of them.

    Raises:
        ImportError: `cryptography` is not installed.
        ValueError: there is no key, or one is not 32 bytes long.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise ValueError(f"a sealer needs one or more keys of {KEY_BYTES} bytes; see agent_client.sealing.new_key")
        kind = _aes_gcm()
        self._ciphers: tuple[Any, ...] = tuple(kind(key) for key in keys)

    def seal(self, text: str, context: str) -> str:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._ciphers[0].encrypt(nonce, text.encode(), context.encode())
        return base64.urlsafe_b64encode(nonce + sealed).decode()

    def open(self, sealed: str, context: str) -> str:
        data = base64.urlsafe_b64decode(sealed)
        for cipher in self._ciphers:
            try:
                text: bytes = cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], context.encode())
            except Exception as error:  # InvalidTag is known only where the library is
                if type(error).__name__ not in ("InvalidTag", "ValueError"):
                    raise
            else:
                return text.decode()
        raise ValueError("a sealed action cannot be opened: it was changed, moved, or its key is gone")


class Unsealed:
    """A `Sealer` that does not seal: pending actions stand readable in the checkpoints. A choice, never a default."""

    def seal(self, text: str, context: str) -> str:  # noqa: ARG002 - the port's
        return text

    def open(self, sealed: str, context: str) -> str:  # noqa: ARG002 - the port's
        return sealed


def _aes_gcm() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - an extra
    except ImportError as missing:
        raise ImportError(f"sealing needs cryptography: {installing('sealed')}; or pass your own Sealer") from missing
    return AESGCM
