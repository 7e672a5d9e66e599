"""From a caller's patience and a tool's timeouts to the bounds of one attempt. Moments are on Clock.monotonic."""

import math

from gateway.contract.codes import ErrorCode
from gateway.manifest.policies import Effect, Timeouts
from gateway.stages.execute.attempt.exchange import Limits
from gateway.stages.execute.attempt.outcome import NotSent


def call_deadline(timeouts: Timeouts, *, started: float, requested_ms: int | None) -> float:
    """When the caller must have its answer: `total`, or sooner when X-Request-Timeout-Ms asks for it."""
    if requested_ms is None:
        return started + timeouts.total_s
    # An integer of the caller's choosing may be too large for a float.
    asked_s = max(min(requested_ms, math.ceil(timeouts.total_s * 1000)), 0) / 1000
    return started + min(asked_s, timeouts.total_s)


def attempt_limits(
    timeouts: Timeouts,
    *,
    effect: Effect,
    now: float,
    deadline: float,
    result_bytes: int,
    fresh_connection: bool = False,
    reserved: bool = False,
) -> Limits | NotSent:
    """The bounds of an attempt that begins now, or why it does not begin.

    A read ends with the caller's deadline. A write listens until `total + grace` after its start, whatever became of
    the caller, and is not started with less than `connect + min_send` left.
    """
    left_s = deadline - now
    needed_s = 0.0 if effect is Effect.READ else timeouts.connect_s + timeouts.min_send_s
    if left_s <= 0 or left_s < needed_s:
        return NotSent(code=ErrorCode.DEADLINE_BEFORE_SEND, retryable=True)
    writes = effect is not Effect.READ
    return Limits(
        connect_s=timeouts.connect_s,
        write_s=timeouts.write_s,
        pool_s=timeouts.pool_s,
        read_s=None if writes else timeouts.read_s,
        ends_at=now + timeouts.total_s + timeouts.grace_s if writes else deadline,
        send_deadline=deadline,
        result_bytes=result_bytes,
        fresh_connection=fresh_connection,
        linger_reset=writes,
        reserved=reserved,
    )


def caller_waits_until(timeouts: Timeouts, *, sent_at: float, deadline: float) -> float:
    """When the caller of a write is answered although no answer has come: `read` after the send, or the deadline."""
    return min(sent_at + timeouts.read_s, deadline)


def left_ms(deadline: float, *, now: float) -> int:
    """The time left as the downstream is told it, in whole milliseconds, never rounded up."""
    return max(math.floor((deadline - now) * 1000), 0)
