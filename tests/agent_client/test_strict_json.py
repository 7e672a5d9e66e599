"""JSON with one meaning."""

import json

import pytest

from agent_client.strict_json import read_strictly


def test_json_is_read_as_it_is() -> None:
    """Text and bytes, an object or any other value."""
    assert read_strictly('{"a": [1, {"a": null}]}') == {"a": [1, {"a": None}]}
    assert read_strictly('"₹"'.encode()) == "₹"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', "same name twice"),
        ('[{"b": {"a": 1, "a": 1}}]', "same name twice"),
        ("[NaN]", "not finite"),
        ("-Infinity", "not finite"),
        ("{'a': 1}", "double quotes"),
        ("", "Expecting value"),
    ],
)
def test_what_has_two_meanings_or_none_is_refused(text: str, why: str) -> None:
    """Two parsers could read it in two ways; the gateway would refuse it, too."""
    with pytest.raises(ValueError, match=why):
        read_strictly(text)


def test_where_it_is_broken_is_told() -> None:
    """A model can mend what it is shown."""
    with pytest.raises(json.JSONDecodeError) as raised:
        read_strictly('{"a": }')

    assert raised.value.pos == 6


def test_too_deep_is_an_error_of_its_own() -> None:
    """No crash of the process, and no value."""
    with pytest.raises(RecursionError):
        read_strictly("[" * 100_000)
