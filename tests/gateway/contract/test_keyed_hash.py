"""The keyed hash is HMAC-SHA256 and nothing of our own."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.keyed_hash import keyed_hash


@given(key=st.binary(max_size=200), text=st.binary(max_size=300))
def test_it_is_hmac_of_the_standard_library(key: bytes, text: bytes) -> None:
    """Any key, shorter or longer than a block, any text."""
    assert keyed_hash(key, text) == hmac.digest(key, text, "sha256")


@pytest.mark.parametrize(
    ("key", "text", "digest"),
    [
        (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (
            b"\xaa" * 131,
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ],
)
def test_the_vectors_of_rfc_4231(key: bytes, text: bytes, digest: str) -> None:
    """Known answers."""
    assert keyed_hash(key, text).hex() == digest


def test_a_key_can_be_used_again() -> None:
    """What was begun once is not used up."""
    assert keyed_hash(b"k", b"a") == keyed_hash(b"k", b"a") != keyed_hash(b"k", b"b")
