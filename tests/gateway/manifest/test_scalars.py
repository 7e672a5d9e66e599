"""The core schema's plain scalars."""

import pytest

from gateway.manifest.scalars import ScalarError, key_text, plain_value


@pytest.mark.parametrize(
    ("text", "value"),
    [("", None), ("Null", None), ("TRUE", True), ("-7", -7), ("+7", 7), ("0o17", 15), ("0xfF", 255), (".5", 0.5),
     ("1e3", 1000.0), ("yes", "yes"), ("1_000", "1_000"), ("0b1", "0b1"), ("1.2.0", "1.2.0"), ("tRue", "tRue")],
)  # fmt: skip
def test_plain_scalars_have_their_core_values(text: str, value: object) -> None:
    """What looks like a number in the core schema is one, and nothing else is."""
    assert plain_value(text) == value
    assert type(plain_value(text)) is type(value)


@pytest.mark.parametrize("text", ["9007199254740992", "-9007199254740992", "9" * 5000, ".nan", "-.INF", "1e400"])
def test_numbers_that_json_would_change_are_refused(text: str) -> None:
    """A number that another reader would read differently has to be quoted."""
    with pytest.raises(ScalarError, match="quote it"):
        plain_value(text)


def test_whole_numbers_are_keys_as_json_would_write_them() -> None:
    """`503:` is the key "503"; forms that JSON would not write are refused."""
    assert key_text("503") == "503"
    assert key_text("name") == "name"
    for text in ("010", "1.5", "true", "null", "-1", "0x1"):
        with pytest.raises(ScalarError, match="must be text"):
            key_text(text)
