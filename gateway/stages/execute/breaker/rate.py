"""The rate limit: a token bucket that holds `count` tokens and refills in `per_s` seconds."""

from dataclasses import dataclass

from gateway.contract.quick import quick
from gateway.manifest.policies import Rate


@quick
@dataclass(frozen=True, slots=True)
class TokenBucket:
    tokens: float
    at: float
    """When `tokens` was true, in seconds on a clock that does not step back."""


def take(bucket: TokenBucket | None, rate: Rate, *, now: float) -> tuple[TokenBucket, float | None]:
    """Take one token.

    Args:
        bucket: as it was; None for a caller never seen, whose bucket is full.

    Returns:
        The bucket as it becomes, and None, or the seconds until there will be a token. A refusal takes nothing.
    """
    per_s = rate.count / rate.per_s
    tokens = float(rate.count) if bucket is None else min(rate.count, bucket.tokens + (now - bucket.at) * per_s)
    if tokens < 1.0:
        return TokenBucket(tokens, now), (1.0 - tokens) / per_s
    return TokenBucket(tokens - 1.0, now), None


def is_full(bucket: TokenBucket, rate: Rate, *, now: float) -> bool:
    """Whether forgetting the bucket would change nothing."""
    return bucket.tokens + (now - bucket.at) * rate.count / rate.per_s >= rate.count
