"""Tokens that a process takes before it needs them, so that a busy bucket is not asked about each call.

What is taken in advance was removed from the shared bucket when it was taken, so processes never pass more calls together
than the bucket lets through. Two things could still break that, and do not:

- The bucket fills up while a process holds tokens of it, and then both are spent at once. A token is therefore worthless
  from the moment at which, with it, there would be more than the bucket holds: as if it had stayed there and overflowed.
- A token comes back when the bucket has been refilled without it. None comes back: unspent tokens expire, and what a
  call has taken and not used is held again by the slice that it came from, or is lost.

So that expiry takes little from others, a process takes what it spent lately, what would overflow anyhow, and at most a
small part of what is there.
"""

import math
from typing import Final

from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.rate import Quota

KEPT_S: Final = 0.05
"""How long a process may spend what it took; and it takes at most what the rate gives in that time."""
PART: Final = 20
"""At most one in so many of the tokens there are: where they are scarce each is asked for by itself."""
RECENT_S: Final = 2 * KEPT_S
"""How long it is known how busy a bucket is. A process that calls less often than that takes nothing in advance."""
_SWEEP_EVERY: Final = 1_000
"""New buckets between two looks for those that nobody takes from any more."""


def at_most(rate: Rate) -> int:
    """How many tokens a process may take at once. 1: nothing in advance, as for every rate below 40 a second."""
    return max(1, math.floor(rate.count / rate.per_s * KEPT_S))


def amount(rate: Rate, *, left: float, ago_s: float, taken: int, spent: int) -> int:
    """How many tokens to ask for.

    Args:
        left: what the bucket had when it was asked last.
        ago_s: seconds since then.
        taken: how many it gave.
        spent: how many of those were used.
    """
    if ago_s >= RECENT_S:
        return 1
    refill = rate.count / rate.per_s
    there = min(rate.count, left + refill * ago_s)
    needed = 2 * taken if spent >= taken and ago_s < KEPT_S else spent
    overflowing = refill * KEPT_S - (rate.count - there)
    return max(1, math.floor(min(max(needed, overflowing), there / PART, at_most(rate))))


class Slice:
    """What a process took from one bucket last: `held` of the `taken` tokens are there, `dropped` are worthless."""

    __slots__ = ("_refill", "_room", "asking", "at", "dropped", "held", "left", "rate", "taken")

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self.taken = self.held = self.dropped = 0
        self.left = 0.0
        self.at = float("-inf")
        self.asking = False
        """Whether a call is asking for the next one. Others ask for one token each meanwhile."""
        self._refill = rate.count / rate.per_s
        self._room = 0.0

    def spend(self, now: float) -> float | None:
        """Spend one. What there is now, here and in the bucket as it was; None: nothing is held."""
        held = self.held
        if not held:
            return None
        age_s = now - self.at
        room = self._room - age_s * self._refill
        if held > room or not 0.0 <= age_s < KEPT_S:
            # Too old; or too many, now that the bucket has filled up.
            still = max(0, math.floor(room)) if 0.0 <= age_s < KEPT_S else 0
            self.dropped += held - still
            self.held = held = still
            if not held:
                return None
        self.held = held = held - 1
        return self.left + held

    def wanted(self, now: float) -> int:
        """How many to ask for; whoever asks says afterwards what came of it."""
        if self.asking:
            return 1
        self.asking = True
        spent = self.taken - self.held - self.dropped
        return amount(self.rate, left=self.left, ago_s=now - self.at, taken=self.taken, spent=spent)

    def unspend(self, taken_at: float) -> None:
        """Hold one that was spent on nothing, unless it is of an older slice, taken at `taken_at`."""
        if self.at == taken_at:
            self.held += 1

    def fill(self, given: int, left: float, *, asked_at: float) -> None:
        """Hold what was given, but for the one that is spent at once. 0: the bucket refused."""
        self.taken, self.held, self.dropped = given, max(0, given - 1), 0
        # From before the question: the bucket may have been refilled ever since.
        self.left, self.at = left, asked_at
        self._room = self.rate.count - left


class Slices:
    """What one process holds: a slice of each bucket whose rate allows it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Slice] = {}
        self._until_sweep = _SWEEP_EVERY

    def __len__(self) -> int:
        return len(self._known)

    def spend(self, quota: Quota, now: float) -> float | None:
        """Spend one token of the bucket. What there is now; None: the store has to be asked."""
        known = self._known.get((quota.partition, quota.key))
        if known is None or (known.rate is not quota.rate and known.rate != quota.rate):
            return None
        return known.spend(now)

    def unspend(self, quota: Quota) -> None:
        """Hold one again that was spent a moment ago, with nothing in between."""
        self._known[quota.partition, quota.key].held += 1

    def since(self, quota: Quota) -> float | None:
        """When the slice was taken of which a token was spent a moment ago, with nothing in between."""
        known = self._known.get((quota.partition, quota.key))
        return None if known is None else known.at

    def put_back(self, quota: Quota, since: float | None) -> None:
        """Hold one again that was taken with the slice of then. If another one has taken its place, it is lost."""
        known = self._known.get((quota.partition, quota.key))
        if known is not None and since is not None and known.rate == quota.rate:
            known.unspend(since)

    def of(self, quota: Quota, now: float) -> Slice | None:
        """The slice of a bucket; None: each of its tokens is asked for. Another declared rate has another slice."""
        name = (quota.partition, quota.key)
        known = self._known.get(name)
        if known is not None and known.rate == quota.rate:
            return known
        if at_most(quota.rate) == 1:
            return None
        self._sweep(now)
        fresh = self._known[name] = Slice(quota.rate)
        return fresh

    def _sweep(self, now: float) -> None:
        self._until_sweep -= 1
        if self._until_sweep > 0:
            return
        self._known = {name: it for name, it in self._known.items() if it.asking or now - it.at < RECENT_S}
        self._until_sweep = _SWEEP_EVERY
