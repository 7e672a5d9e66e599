"""What a person would not see in a tool's text is taken out; what they would see stays."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.stages.normalise.text import clean, clean_text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title", ""),
        ("a\x00b\x07c\x7f\x9b", "abc"),
        ("pay\u202eevil\u2066x\u2069\u200e\u061c", "payevilx"),
        ("zero\u200bwidth\ufeff\u2060\u00ad", "zerowidth"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("select\U000e0100\U000e01ef", "select"),
        ("join\u200der", "joiner"),
        ("\u200d\u200c", ""),
        ("\u0928\u200d\u200c\u200d\u0928", "\u0928\u0928"),
    ],
)
def test_the_unseen_is_removed(text: str, seen: str) -> None:
    """Escape sequences, controls, bidi marks, zero-width characters, tags and stray joiners."""
    assert clean_text(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain ~",
        "two\nlines\tand\r\n",
        "caf\u00e9 \u20b9 425\u00a0000",
        "\u0915\u094d\u200d\u0937",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f",
    ],
)
def test_what_is_seen_stays(text: str) -> None:
    """Line ends, accents, currency signs, joiners inside Hindi, Persian and emoji."""
    assert clean_text(text) == text


@given(st.text())
def test_cleaning_leaves_no_escape_and_no_control(text: str) -> None:
    """Whatever comes in, no terminal takes what comes out for a command."""
    cleaned = clean_text(text)

    assert not any(character < " " and character not in "\n\t\r" for character in cleaned)
    assert not any("\x7f" <= character <= "\x9f" for character in cleaned)


@pytest.mark.parametrize("data", [None, 5, "x", {"a": ["b", {"c": 1.5}]}, []])
def test_clean_data_is_the_same_object(data: Any) -> None:
    """The common case copies nothing."""
    assert clean(data) is data


def test_names_are_texts_too() -> None:
    """All levels are cleaned, names included, and the given value is left as it was."""
    data = {"a\u200b": ["x\x1b[1m", {"b": "\u202ey"}], "n": 1}

    assert clean(data) == {"a": ["x", {"b": "y"}], "n": 1}
    assert "a\u200b" in data


@pytest.mark.parametrize("unseen", ["\x00", "\x08", "\x1b[31m", "\x7f", "\x9b", "\u200b", "\u202e"])
def test_no_kind_of_unseen_text_is_taken_for_plain(unseen: str) -> None:
    """ASCII or not, in a value, in a name and in a list: what JSON escapes, too."""
    assert clean({"a": f"x{unseen}y"}) == {"a": "xy"}
    assert clean({f"x{unseen}y": 1}) == {"xy": 1}
    assert clean([["x", f"x{unseen}y"]]) == [["x", "xy"]]
