"""What the last calls to one dependency were like: a sliding window of buckets, and failures in a row.

Kept by each process for itself. Only what follows from it, an open breaker, is shared.
"""

from dataclasses import dataclass
from typing import Final

from gateway.contract.quick import quick
from gateway.manifest.policies import BreakerPolicy

BUCKETS: Final = 10


@quick
@dataclass(frozen=True, slots=True)
class Bucket:
    began: float
    calls: int
    failures: int


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    buckets: tuple[Bucket, ...] = ()
    """Oldest first; each holds the calls of a tenth of the window, and none is empty."""
    consecutive: int = 0
    """Failures since the last success, however long ago: an agent that calls once an hour opens the breaker too."""


def record(window: Window, policy: BreakerPolicy, *, failed: bool, now: float) -> Window:
    """Fold one finished call into the window. `now` is seconds on any clock that does not step back."""
    older, last = window.buckets[:-1], window.buckets[-1:]
    # Beginnings, not numbered slots: tools that share a scope may differ in `window_s`.
    if not last or now >= last[0].began + policy.window_s / BUCKETS:
        older, last = _within(window.buckets, policy, now), (Bucket(now, 0, 0),)
    bucket = Bucket(last[0].began, last[0].calls + 1, last[0].failures + failed)
    return Window(buckets=(*older, bucket), consecutive=window.consecutive + 1 if failed else 0)


def totals(window: Window, policy: BreakerPolicy, *, now: float) -> tuple[int, int]:
    """Failures and calls in the last `window_s` seconds, to a tenth of it."""
    inside = _within(window.buckets, policy, now)
    return sum(bucket.failures for bucket in inside), sum(bucket.calls for bucket in inside)


def trips(window: Window, policy: BreakerPolicy, *, now: float) -> bool:
    """Whether the calls so far open the breaker: failures in a row, or the rate of failures among enough calls."""
    if window.consecutive >= policy.consecutive:
        return True
    failures, calls = totals(window, policy, now=now)
    return calls >= policy.min_calls and failures >= policy.failure_rate * calls


def _within(buckets: tuple[Bucket, ...], policy: BreakerPolicy, now: float) -> tuple[Bucket, ...]:
    return tuple(bucket for bucket in buckets if bucket.began > now - policy.window_s)
