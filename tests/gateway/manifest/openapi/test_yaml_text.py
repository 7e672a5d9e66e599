"""What is written reads back as the same values, by our reader and by others."""

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.manifest.openapi.yaml_text import yaml_text
from gateway.manifest.yaml_events import parse

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_everything_reads_back(value: dict[str, Any]) -> None:
    """Also texts that look like something else, and characters that nobody sees."""
    text = yaml_text(value)

    assert parse(text or "{}").value == value
    assert (yaml.safe_load(text) or {}) == value


def test_long_members_are_blocks_and_short_ones_are_not() -> None:
    """A person reads it."""
    value = {"a": {"b": 1}, "c": {"d": "x" * 95}, "e": ["y" * 60, "z" * 60], "no": "no"}

    assert yaml_text(value).splitlines() == [
        "a: {b: 1}",
        "c:",
        f'  d: "{"x" * 95}"',
        "e:",
        f'  - "{"y" * 60}"',
        f'  - "{"z" * 60}"',
        '"no": "no"',
    ]
