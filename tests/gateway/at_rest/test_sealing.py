"""Sealing: what opens, what does not, and what the errors say."""

import base64

import pytest

from gateway.at_rest.sealing import Sealer, SealError, key_id_of

ONE = "k1:" + base64.b64encode(b"1" * 32).decode()
TWO = "k2:" + base64.b64encode(b"2" * 32).decode()


def test_what_is_sealed_opens() -> None:
    """The text comes back, and the sealed form does not show it; no two sealings are alike."""
    sealer = Sealer.parse(ONE)

    sealed = sealer.seal(b"canary", bound_to="key")

    assert sealer.open(sealed, bound_to="key") == b"canary"
    assert b"canary" not in sealed
    assert key_id_of(sealed) == "k1"
    assert sealer.seal(b"canary", bound_to="key") != sealed


def test_without_a_key_texts_are_kept_as_they_are() -> None:
    """No setting, no sealing."""
    plain = Sealer.parse("").seal(b"canary", bound_to="key")

    assert Sealer().open(plain, bound_to="key") == b"canary"
    assert key_id_of(plain) is None


def test_the_first_key_seals_and_all_open() -> None:
    """A new key goes in front; what the old one sealed still opens while it stays behind it."""
    old = Sealer.parse(ONE).seal(b"text", bound_to="key")
    rotated = Sealer.parse(f"{TWO}, {ONE}")

    assert rotated.open(old, bound_to="key") == b"text"
    assert key_id_of(rotated.seal(b"text", bound_to="key")) == "k2"


def test_a_missing_key_is_named() -> None:
    """What another key sealed does not open, and the error says which key it was."""
    sealed = Sealer.parse(ONE).seal(b"text", bound_to="key")

    with pytest.raises(SealError, match="'k1', which is not configured"):
        Sealer.parse(TWO).open(sealed, bound_to="key")
    with pytest.raises(SealError, match="'k1', which is not configured"):
        Sealer().open(sealed, bound_to="key")


def test_another_key_of_the_same_id_is_named() -> None:
    """Garbage never comes out: the key id is in the error."""
    sealed = Sealer.parse(ONE).seal(b"text", bound_to="key")
    impostor = Sealer.parse("k1:" + TWO.split(":")[1])

    with pytest.raises(SealError, match="does not open with key 'k1'"):
        impostor.open(sealed, bound_to="key")


def test_a_text_belongs_to_its_operation() -> None:
    """Moved to another record it does not open."""
    sealer = Sealer.parse(ONE)

    with pytest.raises(SealError, match="does not open"):
        sealer.open(sealer.seal(b"text", bound_to="key"), bound_to="another")


@pytest.mark.parametrize("place", [2, 3, 4, 10, 20, -1])
def test_a_changed_text_does_not_open(place: int) -> None:
    """Any flipped bit is noticed."""
    sealer = Sealer.parse(ONE)
    sealed = bytearray(sealer.seal(b"some text", bound_to="key"))
    sealed[place] ^= 1

    with pytest.raises(SealError):
        sealer.open(bytes(sealed), bound_to="key")


@pytest.mark.parametrize("stored", [b"", b"\x02x", b"\x01", b"\x01\x02k", b"\x01\x02k1", b"\x01\x02k1short"])
def test_what_is_no_text_does_not_open(stored: bytes) -> None:
    """Cut or foreign bytes raise the same error and nothing else."""
    with pytest.raises(SealError):
        Sealer.parse(ONE).open(stored, bound_to="key")


def test_an_unsealed_text_is_refused_once_there_is_a_key() -> None:
    """Nobody can slip a plain text in where sealed ones are expected."""
    plain = Sealer().seal(b"text", bound_to="key")

    with pytest.raises(SealError, match="not sealed although"):
        Sealer.parse(ONE).open(plain, bound_to="key")


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("nothing", "seal key 1: it has no id before it"),
        (TWO[3:], "seal key 1: it has no id before it"),
        ("k1:not base64!", "seal key 1: not base64"),
        ("k1:" + base64.b64encode(b"short").decode(), "seal key 1: 5 bytes instead of 32"),
        (f"{ONE},k 2:{TWO[3:]}", "seal key 2: its id"),
        (f"{ONE},{ONE}", "seal key 2: its id must be new"),
        (":" + TWO[3:], "seal key 1: its id"),
    ],
)
def test_a_malformed_setting_is_refused(setting: str, why: str) -> None:
    """The error gives the place and never the key."""
    with pytest.raises(ValueError, match=why) as raised:
        Sealer.parse(setting)

    assert TWO[3:] not in str(raised.value)
    assert "not base64!" not in str(raised.value)


def test_a_sealer_does_not_show_its_keys() -> None:
    """Its repr names the current key."""
    assert repr(Sealer.parse(f"{ONE},{TWO}")) == "Sealer(current='k1')"
