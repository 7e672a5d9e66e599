"""Verdicts are values."""

from gateway.contract.codes import ErrorCode
from gateway.stages.validate.verdict import Rejected


def test_a_refusal_without_details_has_none() -> None:
    """Details are a map, never null."""
    assert Rejected(code=ErrorCode.FORBIDDEN, message="No.").details == {}
