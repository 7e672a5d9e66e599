"""A tool is a shared, immutable value."""

from dataclasses import FrozenInstanceError

import pytest

from tests.gateway.manifest.sample import KEYED, compiled


def test_nothing_of_a_tool_can_be_changed() -> None:
    """All calls read the same object."""
    tool = compiled(KEYED, {"holds": {"o": "order"}})

    with pytest.raises(FrozenInstanceError):
        tool.name = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        tool.holds["x"] = "y"  # type: ignore[index]
    with pytest.raises(TypeError):
        tool.backend.statuses[200] = None  # type: ignore[index]


def test_the_published_schema_is_the_closed_one() -> None:
    """Catalogues show what is accepted."""
    assert compiled(KEYED).arguments_schema["additionalProperties"] is False


def test_the_origin_is_the_requests() -> None:
    """One place decides where a call goes."""
    tool = compiled(KEYED)

    assert tool.backend.origin == tool.backend.request.origin == "https://pay.example:443"
    assert tool.breaker.scope == tool.backend.origin
