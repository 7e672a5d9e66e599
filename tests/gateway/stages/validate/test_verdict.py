"""Verdicts are values."""

from dataclasses import fields

from gateway.stages.validate.verdict import Rejected


def test_a_refusal_has_facts_and_no_sentence() -> None:
    """What a model reads is written in one place, and that is another stage."""
    assert {field.name for field in fields(Rejected)} == {"code", "tool", "faults", "tools", "permission"}
