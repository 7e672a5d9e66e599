"""Normalisers are idempotent, alone and in sequence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.manifest.normalisers import NORMALISERS, normalise


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("trim", " \tORD-1\n", "ORD-1"),
        ("upper", "ord-1", "ORD-1"),
        ("lower", "A@B.C", "a@b.c"),
        ("nfc", "e\u0301", "é"),
        ("collapse_spaces", "a  \n b", "a b"),
    ],
)
def test_each_normaliser_does_what_its_name_says(name: str, text: str, expected: str) -> None:
    """One example each."""
    assert normalise(text, (name,)) == expected


@settings(deadline=None)
@given(st.text(), st.lists(st.sampled_from(sorted(NORMALISERS)), min_size=1, max_size=5, unique=True))
def test_twice_is_once(text: str, names: list[str]) -> None:
    """A normalised text is its own normal form, in any order of normalisers; `upper` with `lower` never loads."""
    if {"upper", "lower"} <= set(names):
        names.remove("lower")
    once = normalise(text, tuple(names))

    assert normalise(once, tuple(names)) == once
