"""Members of enumerations are found as before, without the detour."""

import enum
import sys
from collections.abc import Iterator
from enum import EnumType

import pytest

from gateway.adapters.system.enumerations import spare_enumerations


class _Colour(enum.StrEnum):
    RED = "red"
    CRIMSON = "red"
    title = "red as well"  # type: ignore[assignment]
    """Called as a method of texts."""


_Mode = enum.Flag("_Mode", "READ WRITE")


@pytest.fixture(autouse=True)
def spared() -> Iterator[None]:
    """This process without the detour, until the test has ended."""
    detour = vars(EnumType).get("__getattr__")
    spare_enumerations()
    yield
    if detour is not None:
        setattr(EnumType, "__getattr__", detour)  # noqa: B010 - mypy knows of no such attribute


def test_the_detour_is_gone() -> None:
    """Python 3.12 has none to begin with."""
    assert "__getattr__" not in vars(EnumType)


def test_every_way_to_a_member_is_as_before() -> None:
    """Aliases, members called as methods are, flags made by a call, and members of the standard library."""
    assert (_Colour.RED, _Colour["RED"], _Colour("red")) == ("red", "red", "red")
    assert vars(_Colour)["CRIMSON"] is vars(_Colour)["RED"]
    assert _Colour.__members__["CRIMSON"] is _Colour.RED
    assert str(_Colour.title) == "red as well"
    assert list(_Colour) == ["red", "red as well"]
    assert _Mode(3) == _Mode.READ | _Mode.WRITE
    assert enum.FlagBoundary.STRICT.name == "STRICT"


def test_what_is_no_member_is_still_refused() -> None:
    """As an AttributeError, which `hasattr` understands."""
    assert not hasattr(_Colour, "GREEN")
    with pytest.raises(AttributeError):
        _ = sys.modules["signal"].Signals.SIGNOTHING
