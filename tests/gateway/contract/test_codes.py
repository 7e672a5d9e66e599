"""The table of codes is whole, and its HTTP statuses never invite anyone to repeat what may have been done."""

import re

import pytest

from gateway.contract.codes import FACTS, BreakerCount, CallOutcome, ErrorCode, NextAction, facts

CALLER_SIDE = {400, 401, 403, 404, 405, 409, 413, 415, 422, 429}
NOTHING_EXECUTED = {500, 502, 503, 504}


def test_every_code_has_a_row_and_no_row_lacks_a_code() -> None:
    """The table and the enum name the same codes, in the same order."""
    assert list(FACTS) == list(ErrorCode)


@pytest.mark.parametrize("code", ErrorCode)
def test_a_code_is_spelt_like_its_name(code: ErrorCode) -> None:
    """`ErrorCode.WRONG_TYPE` is `wrong_type` on the wire."""
    assert code.name.lower() == code.value
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code.value)


@pytest.mark.parametrize("code", ErrorCode)
def test_the_status_follows_from_the_outcome(code: ErrorCode) -> None:
    """424 where something was or may have been done; 5xx only where nothing was; never 2xx."""
    row = FACTS[code]

    match row.outcome:
        case CallOutcome.EXECUTED:
            assert row.status == 424
        case CallOutcome.UNKNOWN:
            # "In progress" is the one unknown that a wait resolves by itself; the contract gives it 409.
            assert row.status == (409 if code is ErrorCode.IDEMPOTENCY_IN_PROGRESS else 424)
        case CallOutcome.NOT_EXECUTED:
            assert row.status in CALLER_SIDE | NOTHING_EXECUTED


@pytest.mark.parametrize("code", ErrorCode)
def test_a_503_says_when_to_come_back(code: ErrorCode) -> None:
    """Every 503, and the 429, has a number of seconds for Retry-After."""
    row = FACTS[code]

    if row.status in {429, 503}:
        assert row.retryable
        assert row.retry_after_s is not None
        assert row.retry_after_s > 0


@pytest.mark.parametrize("code", ErrorCode)
def test_only_what_was_not_executed_is_retryable(code: ErrorCode) -> None:
    """The same call may be sent again where nothing was executed, or where it only joins the one in progress."""
    row = FACTS[code]

    if row.retryable:
        assert row.outcome is CallOutcome.NOT_EXECUTED or code is ErrorCode.IDEMPOTENCY_IN_PROGRESS
        assert row.next_action in {NextAction.RETRY, NextAction.WAIT}
    else:
        assert row.next_action is not NextAction.RETRY


@pytest.mark.parametrize("code", ErrorCode)
def test_an_unknown_is_never_told_to_repeat(code: ErrorCode) -> None:
    """What may have been done is verified, waited for or escalated."""
    if FACTS[code].outcome is CallOutcome.UNKNOWN:
        assert FACTS[code].next_action in {NextAction.VERIFY, NextAction.WAIT, NextAction.ESCALATE}


@pytest.mark.parametrize("code", ErrorCode)
def test_the_sentence_ends_and_says_what_happened_to_the_effect(code: ErrorCode) -> None:
    """It is plain text without placeholders, and it says whether something was done."""
    row = FACTS[code]

    assert row.sentence.endswith(".")
    assert "{" not in row.sentence
    if row.outcome is CallOutcome.UNKNOWN and row.next_action is NextAction.VERIFY:
        assert "MAY have been carried out" in row.sentence
        assert "Do not call again" in row.sentence
    if row.outcome is CallOutcome.EXECUTED:
        assert "was carried out" in row.sentence
        assert "Do not repeat it" in row.sentence


def test_a_refusal_by_the_service_is_health() -> None:
    """A 4xx shows that the dependency answers; a time-out or a failed connection does not."""
    assert FACTS[ErrorCode.REJECTED].breaker is BreakerCount.SUCCESS
    assert FACTS[ErrorCode.TIMEOUT_UNKNOWN_OUTCOME].breaker is BreakerCount.FAILURE
    assert FACTS[ErrorCode.CONNECT_FAILED].breaker is BreakerCount.FAILURE
    assert FACTS[ErrorCode.RATE_LIMITED].breaker is BreakerCount.IGNORED


def test_facts_takes_a_plain_string_and_refuses_any_other() -> None:
    """Outcomes carry codes as strings; a string that is no code raises."""
    assert facts("over_limit") is FACTS[ErrorCode.OVER_LIMIT]
    with pytest.raises(KeyError):
        facts("over_the_limit")
