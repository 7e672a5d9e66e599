"""How long to wait before trying again. Pure; the draw is an argument."""

from typing import Final

INFERENCE_BOUNDS_S: Final = (0.5, 1.0, 2.0)
"""Upper bounds of the waits before the second, third and fourth inference."""

READ_BOUNDS_S: Final = (0.5, 1.0)
"""The same for a read; the gateway has retried already by then."""

RECONCILE_BOUNDS_S: Final = (0.5, 1.0, 2.0, 4.0, 5.0)
"""Between looks at an operation in doubt; the last one repeats."""


def full_jitter(bound_s: float, draw: float, *, at_least_s: float | None = None) -> float:
    """Anywhere between nothing and the bound, so that many tasks do not come back together.

    `at_least_s` is what the other side asked for; it is never undercut.
    """
    return max(bound_s * draw, at_least_s or 0.0)
