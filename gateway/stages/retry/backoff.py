"""How long to wait before the next attempt. Chance is an argument: a draw in [0, 1)."""

from typing import Final

RETRY_AFTER_JITTER: Final = 0.1
"""Share added to a wait that the dependency asked for, so that its callers do not come back in one moment."""
_DOUBLINGS = 60


def full_jitter_s(*, base_s: float, cap_s: float, retries: int, draw: float) -> float:
    """Seconds, uniform between 0 and `base_s` doubled `retries` times, or `cap_s` if that is less.

    Full jitter rather than a band around the doubled value: callers that failed together must not retry together.
    """
    return draw * min(cap_s, base_s * 2.0 ** min(retries, _DOUBLINGS))


def asked_s(retry_after_s: float, *, draw: float) -> float:
    """Seconds to wait when the dependency named them: never less, and up to a tenth more."""
    return retry_after_s * (1.0 + RETRY_AFTER_JITTER * draw)
