"""AES-256-GCM: what opens, and that what does not is a ValueError."""

import pytest

from gateway.at_rest.aes_gcm import AesGcm

NONCE = b"n" * 12


def test_what_is_encrypted_opens_for_what_it_is_bound_to() -> None:
    """The text comes back, and the sealed form is 16 bytes longer and does not show it."""
    cipher = AesGcm(b"1" * 32)
    sealed = cipher.encrypt(NONCE, b"canary", b"bound")
    assert (len(sealed), b"canary" in sealed) == (22, False)
    assert cipher.decrypt(NONCE, sealed, b"bound") == b"canary"


def test_nothing_else_opens() -> None:
    """Another key, another binding, a changed text, and one that is too short."""
    cipher = AesGcm(b"1" * 32)
    sealed = cipher.encrypt(NONCE, b"canary", b"bound")
    for other, text, bound in (
        (AesGcm(b"2" * 32), sealed, b"bound"),
        (cipher, sealed, b"unbound"),
        (cipher, bytes([sealed[0] ^ 1]) + sealed[1:], b"bound"),
        (cipher, b"", b"bound"),
    ):
        with pytest.raises(ValueError, match="it does not open"):
            other.decrypt(NONCE, text, bound)
