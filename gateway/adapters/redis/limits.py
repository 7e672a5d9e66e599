"""Rates that gateways count together. With the store away each counts for itself: a limit is no reason to refuse."""

from typing import Final
from urllib.parse import quote

from gateway.adapters.redis.client import Client
from gateway.clock import Clock
from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.rate import TokenBucket, take
from gateway.stages.execute.operation.ports import StoreUnavailableError

_AWAY_S: Final = 0.5
_MOST_BUCKETS: Final = 10_000


class RedisRateLimits:
    """`RateLimits` of every gateway on one store."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._away_until = float("-inf")
        self._own: dict[str, TokenBucket] = {}

    def __repr__(self) -> str:
        return f"<RedisRateLimits, {len(self._own)} counted here>"

    async def take(self, key: str, rate: Rate) -> float | None:
        if self._clock.monotonic() >= self._away_until:
            try:
                _, wait = await self._client.ask("take", rate_key(key), rate.count, rate.per_s)
            except StoreUnavailableError:
                self._away_until = self._clock.monotonic() + _AWAY_S
            else:
                self._own.pop(key, None)
                return float(wait) if wait else None
        if len(self._own) >= _MOST_BUCKETS and key not in self._own:
            self._own.clear()
        self._own[key], wait_s = take(self._own.get(key), rate, now=self._clock.monotonic())
        return wait_s


def rate_key(key: str) -> str:
    """The key of a caller's bucket, in a slot of its own."""
    return f"oncegate:rate:{{{quote(key, safe='')}}}"
