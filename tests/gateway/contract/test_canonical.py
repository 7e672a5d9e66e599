"""Canonical JSON: the same bytes as RFC 8785 on the fast and on the slow way."""

from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.canonical import MAX_DEPTH, MAX_INTEGER, NotCanonical, canonical

SCALARS = st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.floats() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@given(VALUES)
def test_equals_rfc8785(value: Any) -> None:
    """Both ways write what the reference implementation writes, and refuse what it refuses."""
    try:
        expected = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        with pytest.raises(NotCanonical):
            canonical(value)
    else:
        assert canonical(value) == expected


@given(st.dictionaries(st.text(st.characters(max_codepoint=127)), st.text() | st.integers(-9, 9)))
def test_the_fast_way_equals_rfc8785(value: dict[str, Any]) -> None:
    """Control characters, quotes and escapes included."""
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"amount": 1.0}, '{"amount":1}'),
        ([-0.0, 1e21, 0.1, 1e-7], "[0,1e+21,0.1,1e-7]"),
        ({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}'),
        ("\u001b\u007f\u2028/", '"\\u001b\u007f\u2028/"'),
        ("é", '"é"'),
        ("e\u0301", '"e\u0301"'),
        (("a", 1), '["a",1]'),
        (MappingProxyType({"b": 1, "a": MappingProxyType({})}), '{"a":{},"b":1}'),
    ],
)
def test_examples(value: Any, text: str) -> None:
    """Whole floats lose their point, names sort by UTF-16, nothing is normalised, proxies are mappings."""
    assert canonical(value) == text.encode()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (MAX_INTEGER + 1, "2^53"),
        ([{"a": -MAX_INTEGER - 1}], "2^53"),
        (float("nan"), "NaN"),
        (float("inf"), "NaN or infinite"),
        ("\ud800", "Unicode"),
        ({"\udfff": 1}, "Unicode"),
        ({1: "a"}, "name"),
        (datetime(2026, 10, 28, tzinfo=UTC), "not JSON"),
        (b"bytes", "not JSON"),
        ({1, 2}, "not JSON"),
    ],
    ids=repr,
)
def test_refuses_what_has_no_canonical_form(value: Any, reason: str) -> None:
    """Each refusal says why."""
    with pytest.raises(NotCanonical, match=reason.replace("^", r"\^")):
        canonical(value)


def test_the_largest_integers_are_kept() -> None:
    """2^53 - 1 is the last one on either side."""
    assert canonical([MAX_INTEGER, -MAX_INTEGER]) == b"[9007199254740991,-9007199254740991]"


def test_depth_is_bounded() -> None:
    """64 nested arrays have a canonical form and 65 have none."""
    value: Any = []
    for _ in range(MAX_DEPTH - 1):
        value = [value]

    assert canonical(value) == b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    with pytest.raises(NotCanonical, match="deeper than 64"):
        canonical([value])


def test_depth_is_refused_before_the_recursion_limit() -> None:
    """A hundred thousand levels cost no recursion."""
    value: Any = 1
    for _ in range(100_000):
        value = {"a": value}

    with pytest.raises(NotCanonical, match="deeper"):
        canonical(value)
    # Taken apart by hand, because freeing it recursively is what would overflow.
    while isinstance(value, dict):
        value = value.pop("a")
