"""Sealed actions open only where they were sealed, with a key that is still there."""

import sys

import pytest

from agent_client.sealing import KEY_BYTES, AesSealer, Unsealed, new_key


def test_T11_what_is_sealed_shows_nothing_and_opens_in_its_own_place() -> None:
    """Two seals of one text differ; another context does not open it."""
    sealer = AesSealer([new_key()])

    first, second = sealer.seal("4111 1111", "task/call"), sealer.seal("4111 1111", "task/call")

    assert "4111" not in first
    assert first != second
    assert sealer.open(first, "task/call") == "4111 1111"
    with pytest.raises(ValueError, match="cannot be opened"):
        sealer.open(first, "task/other")


def test_keys_rotate() -> None:
    """The first seals, all open, and a key that is gone opens nothing."""
    old, new = new_key(), new_key()
    sealed = AesSealer([old]).seal("text", "c")

    assert AesSealer([new, old]).open(sealed, "c") == "text"
    with pytest.raises(ValueError, match="its key is gone"):
        AesSealer([new]).open(sealed, "c")
    with pytest.raises(ValueError, match="its key is gone"):
        AesSealer([old]).open(AesSealer([new, old]).seal("text", "c"), "c")


def test_a_changed_seal_does_not_open() -> None:
    """One character is enough; so is half of it."""
    sealer = AesSealer([new_key()])
    sealed = sealer.seal("text", "c")

    for broken in (sealed[:-8] + "AAAAAAA=", sealed[:8]):
        with pytest.raises(ValueError, match="cannot be opened"):
            sealer.open(broken, "c")


@pytest.mark.parametrize("keys", [[], [b"short"], [b"x" * (KEY_BYTES + 1)]])
def test_keys_of_another_length_are_refused(keys: list[bytes]) -> None:
    """With the length that is needed."""
    with pytest.raises(ValueError, match="32 bytes"):
        AesSealer(keys)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """`cryptography` is not a dependency of the client."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)

    with pytest.raises(ImportError, match=r"oncegate\[sealed\]"):
        AesSealer([new_key()])


def test_unsealed_is_what_it_says() -> None:
    """A choice that somebody made."""
    assert Unsealed().open(Unsealed().seal("text", "c"), "d") == "text"
