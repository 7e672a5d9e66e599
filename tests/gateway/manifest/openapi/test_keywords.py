"""What a document's keyword must be to mean anything."""

from gateway.manifest.openapi.keywords import PLAIN, clean, is_vacuous


def test_words_of_a_document_are_one_bounded_line() -> None:
    """Without controls, and without marks that turn the direction of the text or hide it."""
    assert clean("a\n b\x1b[31m\u202ec\u200b\ud800d", 100) == "a b[31mcd"
    assert clean("x" * 50, 10) == "xxxxxxx..."
    assert clean(None, 10) == ""
    assert clean("Send sk_live_abcdefgh12345678, or Bearer authentication.", 99) == "Send [...], or [...]"


def test_values_of_another_kind_mean_nothing() -> None:
    """As many documents have them: a text for a number, true for a list of names."""
    assert not PLAIN["required"](True)
    assert not PLAIN["maximum"]("9")
    assert not PLAIN["enum"]([2**60])
    assert PLAIN["enum"]([None, "a"])
    assert not PLAIN["minLength"](-1)


def test_a_bound_beyond_every_accepted_integer_is_no_loss() -> None:
    """Larger ones are refused before a schema sees them."""
    assert is_vacuous("maximum", 2**63 - 1)
    assert not is_vacuous("maximum", "9")
