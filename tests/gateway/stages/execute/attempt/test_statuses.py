"""The table of statuses, held against the facts of its codes."""

import pytest

from gateway.contract.codes import FACTS, CallOutcome, ErrorCode
from gateway.manifest.policies import StatusMeaning
from gateway.stages.execute.attempt.statuses import STATUSES, status_row

MEANT = {
    StatusMeaning.DONE: CallOutcome.EXECUTED,
    StatusMeaning.REFUSED: CallOutcome.NOT_EXECUTED,
    StatusMeaning.REFUSED_RETRYABLE: CallOutcome.NOT_EXECUTED,
    StatusMeaning.UNKNOWN: CallOutcome.UNKNOWN,
}


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_a_code_says_what_its_status_proves(status: int) -> None:
    """Table and code facts cannot tell two stories."""
    row = STATUSES[status]

    if row.code is not None:
        assert FACTS[row.code].outcome is MEANT[row.meaning]
    assert FACTS[row.if_refused].outcome is CallOutcome.NOT_EXECUTED
    assert FACTS[row.if_read].outcome is CallOutcome.NOT_EXECUTED


@pytest.mark.parametrize(
    ("status", "meaning", "code"),
    [
        (226, StatusMeaning.DONE, None),
        (399, StatusMeaning.REFUSED, ErrorCode.UNEXPECTED_STATUS),
        (418, StatusMeaning.REFUSED, ErrorCode.UNEXPECTED_STATUS),
        (599, StatusMeaning.UNKNOWN, ErrorCode.DOWNSTREAM_ERROR_UNKNOWN_OUTCOME),
    ],
)
def test_an_unlisted_status_counts_as_its_class(status: int, meaning: StatusMeaning, code: ErrorCode | None) -> None:
    """As RFC 9110 has it: as the x00 of the class."""
    row = status_row(status)

    assert (row.meaning, row.code) == (meaning, code)


@pytest.mark.parametrize("status", [0, 99, 100, 101, 199, 600, 999])
def test_a_number_that_is_no_final_status_proves_nothing(status: int) -> None:
    """Neither an interim status nor a number outside HTTP ends an operation."""
    row = status_row(status)

    assert (row.meaning, row.code) == (StatusMeaning.UNKNOWN, ErrorCode.MALFORMED_RESPONSE)
