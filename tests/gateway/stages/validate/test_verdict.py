"""Verdicts are values."""

from gateway.contract.codes import ErrorCode
from gateway.stages.validate.verdict import Denied, Rejected


def test_a_refusal_without_details_has_none() -> None:
    """Details are a map, never null."""
    assert Rejected(code=ErrorCode.FORBIDDEN, message="No.").details == {}


def test_a_denial_says_only_what_it_knows() -> None:
    """A rule that could not be asked has no sentence to tell."""
    denied = Denied(code=ErrorCode.RULE_ERROR)

    assert (denied.rule, denied.reason, denied.next_action, denied.retry_after_s, denied.details) == (
        None, None, None, None, {},
    )  # fmt: skip
