"""The retry budget of one dependency: retries are a share of first attempts, with a small reserve for thin traffic.

Without it a dependency that fails gets `max_attempts` times its load at the moment it can bear it least.
"""

from dataclasses import dataclass
from typing import Final

RESERVE: Final = 10.0
"""Retries that a dependency may get before its traffic has earned any; also the most that is ever saved up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    tokens: float = RESERVE


def earn(budget: Budget, ratio: float) -> Budget:
    """Count a first attempt. `ratio` is `retry.budget`: retries earned by one call."""
    return budget if budget.tokens >= RESERVE else Budget(tokens=min(RESERVE, budget.tokens + ratio))


def affords(budget: Budget, ratio: float) -> bool:
    """Whether one more retry is paid for. A tool with a ratio of 0 has no retries, reserve or not."""
    return ratio > 0 and budget.tokens >= 1.0


def spend(budget: Budget) -> Budget:
    """Count a retry."""
    return Budget(tokens=max(0.0, budget.tokens - 1.0))
