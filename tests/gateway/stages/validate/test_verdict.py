"""Verdicts are values."""

from dataclasses import fields

from gateway.contract.codes import ErrorCode
from gateway.stages.validate.verdict import Denied, Rejected


def test_a_refusal_has_facts_and_no_sentence() -> None:
    """What a model reads is written in one place, and that is another stage."""
    assert {field.name for field in fields(Rejected)} == {"code", "tool", "faults", "tools", "permission"}


def test_a_denial_says_only_what_it_knows() -> None:
    """A rule that could not be asked has no sentence to tell."""
    denied = Denied(code=ErrorCode.RULE_ERROR)

    assert (denied.rule, denied.reason, denied.next_action, denied.retry_after_s, denied.details) == (
        None, None, None, None, {},
    )  # fmt: skip
