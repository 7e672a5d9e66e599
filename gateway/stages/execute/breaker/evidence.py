"""What one finished attempt says about its dependency's health."""

from dataclasses import dataclass
from typing import Final

from gateway.contract.codes import BreakerCount
from gateway.contract.quick import quick
from gateway.stages.execute.attempt.outcome import Done, NotSent, Outcome

THROTTLE_STATUSES: Final = frozenset({429, 503})
THROTTLE_MAX_S: Final = 300.0
"""A dependency that asks for more is asked again after this."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    count: BreakerCount
    code: str | None = None
    throttle_s: float | None = None
    """Seconds for which the dependency asked to be left alone."""


IGNORED: Final = Evidence(count=BreakerCount.IGNORED)
"""Of an attempt that says nothing: cancelled, refused by ourselves, or never made."""
SUCCEEDED: Final = Evidence(count=BreakerCount.SUCCESS)


def weigh(outcome: Outcome, fact: BreakerCount, *, cut_short: bool = False) -> Evidence:
    """Turn an outcome into evidence.

    Args:
        fact: the `breaker` column of the outcome's code; of no matter for Done.
        cut_short: the caller's own deadline ended the wait before the tool's `timeouts` did.
    """
    if isinstance(outcome, Done):
        # Whatever became of the result, the dependency did its work.
        return SUCCEEDED if outcome.code is None else Evidence(count=BreakerCount.SUCCESS, code=outcome.code)
    if cut_short:
        return IGNORED
    asked = None if isinstance(outcome, NotSent) or outcome.status not in THROTTLE_STATUSES else outcome.retry_after_s
    if asked is not None:
        return Evidence(count=BreakerCount.IGNORED, code=outcome.code, throttle_s=min(asked, THROTTLE_MAX_S))
    return Evidence(count=fact, code=outcome.code)
