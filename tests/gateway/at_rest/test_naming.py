"""Fields by their names."""

from dataclasses import dataclass

import pytest

from gateway.at_rest.naming import teller


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is told."""

    b: int
    a: str


def test_fields_are_told_by_name_in_their_order() -> None:
    """Those that were named, and no other."""
    assert list(teller(("b", "a"))(Told(b=1, a="x")).items()) == [("b", 1), ("a", "x")]
    assert teller(("a",))(Told(b=1, a="x")) == {"a": "x"}
    assert teller(())(None) == {}


def test_what_is_no_name_is_refused() -> None:
    """Only names become part of a function."""
    with pytest.raises(ValueError, match="name"):
        teller(("a", "b}; {"))
