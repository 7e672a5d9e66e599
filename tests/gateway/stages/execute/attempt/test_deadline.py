"""From patience and timeouts to the bounds of an attempt."""

from dataclasses import replace

import pytest

from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import Effect, Timeouts
from gateway.stages.execute.attempt.deadline import attempt_limits, call_deadline, caller_waits_until, left_ms
from gateway.stages.execute.attempt.exchange import Limits
from gateway.stages.execute.attempt.outcome import NotSent

# None is a default: a timeout that is not looked at must not be right by chance.
TIMEOUTS = Timeouts(connect_s=1.5, write_s=3.0, read_s=6.0, pool_s=0.5, total_s=25.0, grace_s=12.0, min_send_s=0.75)
READ = Limits(
    connect_s=1.5,
    write_s=3.0,
    pool_s=0.5,
    read_s=6.0,
    ends_at=120.0,
    send_deadline=120.0,
    result_bytes=64,
)


@pytest.mark.parametrize(
    ("requested_ms", "expected"),
    [
        (None, 125.0),
        (5_000, 105.0),
        (22_000, 122.0),
        (60_000, 125.0),
        (0, 100.0),
        (-7, 100.0),
        (10**400, 125.0),
        (1, 100.001),
    ],
)
def test_the_caller_can_only_shorten_the_total(requested_ms: int | None, expected: float) -> None:
    """The deadline is the smaller of X-Request-Timeout-Ms and `total`, whatever integer was sent."""
    assert call_deadline(TIMEOUTS, started=100.0, requested_ms=requested_ms) == expected


def test_a_total_of_parts_of_a_millisecond_is_not_rounded_up() -> None:
    """Whole milliseconds are how a caller asks, not how a tool is bounded."""
    assert call_deadline(replace(TIMEOUTS, total_s=0.0015), started=0.0, requested_ms=2) == 0.0015


def test_a_read_ends_with_the_callers_deadline() -> None:
    """A read is bounded in every wait and gone when nobody waits for it."""
    assert attempt_limits(TIMEOUTS, effect=Effect.READ, now=100.0, deadline=120.0, result_bytes=64) == READ


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.IDEMPOTENT])
def test_a_write_listens_until_total_and_grace_have_passed(effect: Effect) -> None:
    """Its silence is bounded by its end only, its bytes leave by the deadline, its socket resets on close."""
    expected = replace(READ, read_s=None, ends_at=137.0, send_deadline=110.0, linger_reset=True)

    assert attempt_limits(TIMEOUTS, effect=effect, now=100.0, deadline=110.0, result_bytes=64) == expected


def test_what_the_tool_asks_of_the_connection_is_handed_on() -> None:
    """A fresh connection and the reserved one are the caller's choice."""
    limits = attempt_limits(
        TIMEOUTS,
        effect=Effect.READ,
        now=100.0,
        deadline=120.0,
        result_bytes=64,
        fresh_connection=True,
        reserved=True,
    )

    assert limits == replace(READ, fresh_connection=True, reserved=True)


@pytest.mark.parametrize(
    ("effect", "left_s", "begins"),
    [
        (Effect.WRITE, 2.25, True),
        (Effect.WRITE, 2.2, False),
        (Effect.IDEMPOTENT, 2.2, False),
        (Effect.READ, 0.01, True),
        (Effect.READ, 0.0, False),
    ],
)
def test_no_write_begins_that_could_not_be_sent_in_time(effect: Effect, left_s: float, *, begins: bool) -> None:
    """A write needs `connect + min_send`; a read only some time at all."""
    limits = attempt_limits(TIMEOUTS, effect=effect, now=100.0, deadline=100.0 + left_s, result_bytes=64)

    expected = NotSent(code=ErrorCode.DEADLINE_BEFORE_SEND, retryable=True)
    assert (isinstance(limits, Limits), limits == expected) == (begins, not begins)


def test_the_caller_of_a_write_waits_for_read_or_its_deadline() -> None:
    """Whichever comes first."""
    assert caller_waits_until(TIMEOUTS, sent_at=101.0, deadline=120.0) == 107.0
    assert caller_waits_until(TIMEOUTS, sent_at=101.0, deadline=103.0) == 103.0


@pytest.mark.parametrize(("deadline", "expected"), [(101.2345, 1_234), (100.0, 0), (99.0, 0)])
def test_the_downstream_is_told_no_more_time_than_there_is(deadline: float, expected: int) -> None:
    """Whole milliseconds, rounded down, never negative."""
    assert left_ms(deadline, now=100.0) == expected
