"""One field at a time, and nothing else."""

from dataclasses import dataclass, replace

import pytest

from gateway.contract.changed import changed
from gateway.contract.envelope import Meta, succeed

META = Meta(request_id="req_1", tool="issue_refund", attempts=2, warnings=("one",))


def test_it_makes_what_replace_makes() -> None:
    """The changed value equals the one that the standard library makes, and the old one is as it was."""
    assert changed(META, attempts=3, run_id="run-1") == replace(META, attempts=3, run_id="run-1")
    assert META.attempts == 2
    assert type(changed(META)) is Meta


def test_a_field_that_is_not_there_is_refused() -> None:
    """A misspelt name must not be lost."""
    with pytest.raises(TypeError, match="Meta has no field attemps"):
        changed(META, attemps=3)


def test_the_changed_value_is_frozen_too() -> None:
    """What comes out can be handed on as safely as what went in."""
    with pytest.raises(AttributeError):
        changed(META, attempts=3).attempts = 4  # type: ignore[misc]


def test_a_value_that_checks_itself_is_refused() -> None:
    """An envelope's own check must not be stepped around."""
    with pytest.raises(TypeError, match=r"use dataclasses\.replace"):
        changed(succeed({}, META), ok=False)


def test_a_value_without_slots_is_refused() -> None:
    """Fields that live in a dictionary cannot be copied slot by slot."""

    @dataclass(frozen=True)
    class Loose:
        name: str

    with pytest.raises((AttributeError, TypeError)):
        changed(Loose("a"), name="b")
