"""Breaker states of one process: what nothing else shares needs no round trip, and is never away."""

from dataclasses import replace

from gateway.clock import Clock
from gateway.stages.execute.breaker.breaker import Breaker
from gateway.stages.execute.breaker.ports import Standing


class MemoryBreakers:
    """A `BreakerStore` whose scopes live as long as the process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._standings: dict[str, Standing] = {}

    def now(self) -> float:
        return self._clock.monotonic()

    def peek(self, scope: str) -> Standing | None:
        return self._standings.get(scope, _NOBODY_WROTE)

    async def load(self, scope: str) -> Standing:
        return self._standings.get(scope, _NOBODY_WROTE)

    async def swap(self, scope: str, expected: int, breaker: Breaker) -> Breaker:
        standing = await self.load(scope)
        if standing.breaker.generation == expected:
            self._standings[scope] = standing = replace(standing, breaker=breaker)
        return standing.breaker

    async def throttle(self, scope: str, until: float) -> None:
        standing = await self.load(scope)
        self._standings[scope] = replace(standing, throttled_until=max(standing.throttled_until, until))


_NOBODY_WROTE = Standing()
