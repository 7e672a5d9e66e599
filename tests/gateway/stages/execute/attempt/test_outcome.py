"""Outcomes are types."""

from typing import get_args

from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome, Refused, Unknown


def test_there_are_four_outcomes() -> None:
    """Whoever matches on an outcome handles these four and no other."""
    assert get_args(Outcome) == (NotSent, Refused, Done, Unknown)
