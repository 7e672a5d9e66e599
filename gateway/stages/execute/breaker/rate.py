"""Rate limits: token buckets that hold `count` tokens and refill in `per_s` seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.contract.quick import quick
from gateway.manifest.policies import Rate

_SWEEP_EVERY: Final = 1_000
"""New keys between two sweeps for buckets that are full again: an idle caller costs nothing for long."""


@quick
@dataclass(frozen=True, slots=True)
class TokenBucket:
    tokens: float
    at: float
    """When `tokens` was true, in seconds on a clock that does not step back."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One bucket that a call takes from.

    Attributes:
        name: as the caller is told of it; None for one that counts other tenants' calls too, of which nobody is told.
        partition: whose it is: a tenant's name, or "" for everybody. Buckets of a partition are taken from together.
        key: its own within the partition.
    """

    name: str | None
    partition: str
    key: str
    rate: Rate


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came of taking from buckets.

    Attributes:
        tokens: what is left in each, in the order of the quotas.
        refused: which of them had none; None: something was taken from each.
        wait_s: seconds until every one will have one.
        counts: how many were taken from each; empty: one, or none where that was refused. Where it was refused there may
            be ones nevertheless, which whoever asked for several holds now.
        since: which of the slices of a process (their `at`) each token is of; None: of none. Empty: nobody asked.
    """

    tokens: tuple[float, ...]
    refused: int | None = None
    wait_s: float = 0.0
    counts: tuple[int, ...] = ()
    since: tuple[float | None, ...] = ()


def take(
    buckets: Sequence[TokenBucket | None], rates: Sequence[Rate], most: Sequence[int] = (), *, now: float
) -> tuple[tuple[TokenBucket, ...], Taken]:
    """Take tokens from each bucket, or none from any.

    Args:
        buckets: as they were; None for one never seen, which is full.
        rates: theirs.
        most: how many of each, where there are so many; else one. Empty: one of each.

    Returns:
        The buckets as they become, and what came of it. A refusal takes nothing.
    """
    there = [
        float(rate.count)
        if it is None
        else min(rate.count, it.tokens + max(0.0, now - it.at) * rate.count / rate.per_s)
        for it, rate in zip(buckets, rates, strict=True)
    ]
    waits = [(1.0 - tokens) * rate.per_s / rate.count for tokens, rate in zip(there, rates, strict=True)]
    longest = max(range(len(waits)), key=waits.__getitem__)
    refused = waits[longest] > 0.0
    if refused:
        taken = Taken(tokens=tuple(there), refused=longest, wait_s=waits[longest])
    else:
        counts = tuple(
            many if tokens >= many else 1 for tokens, many in zip(there, most or [1] * len(there), strict=True)
        )
        left = tuple(tokens - many for tokens, many in zip(there, counts, strict=True))
        taken = Taken(tokens=left, counts=counts if most else ())
    # Who read the clock before another took gets no time twice.
    since = (now if it is None else max(now, it.at) for it in buckets)
    return tuple(TokenBucket(tokens, at) for tokens, at in zip(taken.tokens, since, strict=True)), taken


def is_full(bucket: TokenBucket, rate: Rate, *, now: float) -> bool:
    """Whether forgetting the bucket would change nothing."""
    return bucket.tokens + (now - bucket.at) * rate.count / rate.per_s >= rate.count


class Buckets:
    """The buckets that one process counts by itself."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[TokenBucket, Rate]] = {}
        self._until_sweep = _SWEEP_EVERY

    def __len__(self) -> int:
        return len(self._known)

    def take(self, quotas: Sequence[Quota], most: Sequence[int] = (), *, now: float) -> Taken:
        """Take from each, as `take` does."""
        names = [(it.partition, it.key) for it in quotas]
        known: Mapping[tuple[str, str], tuple[TokenBucket, Rate]] = self._known
        before = [known[name][0] if name in known else None for name in names]
        if None in before:
            self._sweep(now)
        after, taken = take(before, [it.rate for it in quotas], most, now=now)
        self._known.update({name: (it, q.rate) for name, it, q in zip(names, after, quotas, strict=True)})
        return taken

    def give(self, quotas: Sequence[Quota]) -> None:
        """Put one back into each."""
        for it in quotas:
            name = (it.partition, it.key)
            if name in self._known:
                bucket, rate = self._known[name]
                self._known[name] = TokenBucket(min(rate.count, bucket.tokens + 1.0), bucket.at), rate

    def _sweep(self, now: float) -> None:
        self._until_sweep -= 1
        if self._until_sweep > 0:
            return
        self._known = {name: it for name, it in self._known.items() if not is_full(*it, now=now)}
        self._until_sweep = _SWEEP_EVERY
