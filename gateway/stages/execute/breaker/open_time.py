"""How long a breaker stays open."""

from typing import Final

from gateway.manifest.policies import BreakerPolicy

OPEN_MAX_S: Final = 300.0
"""`open_s` doubles with every failed probe up to here (or stays at `open_s` where that is longer)."""
JITTER: Final = 0.1
"""Share by which an open time varies, so that replicas and dependencies do not probe in step."""
_DOUBLINGS = 30


def open_for_s(policy: BreakerPolicy, *, rounds: int, draw: float) -> float:
    """Seconds that the breaker stays open for the `rounds`th time in one outage; `draw` is in [0, 1)."""
    doubled = policy.open_s * 2.0 ** min(rounds - 1, _DOUBLINGS)
    return min(doubled, max(policy.open_s, OPEN_MAX_S)) * (1 - JITTER + 2 * JITTER * draw)
