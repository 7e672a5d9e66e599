"""Breakers that gateways share. What was heard is kept up to date in the background: a healthy call asks nobody."""

import asyncio
import logging
from dataclasses import replace
from typing import Any, Final

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import shared_key
from gateway.adapters.redis.packing import Value
from gateway.at_rest.breakers import breaker_of, breaker_text
from gateway.clock import Clock
from gateway.stages.execute.breaker.breaker import Breaker
from gateway.stages.execute.breaker.ports import BreakerStoreAway, Standing
from gateway.stages.execute.operation.ports import StoreUnavailableError

_log = logging.getLogger("oncegate")

REFRESH_S: Final = 0.5
"""How often it is asked what others wrote."""
_FRESH_S: Final = 2 * REFRESH_S
"""How old what was heard may be and still be used."""
_AWAY_S: Final = 0.5
"""How long after a failure the store is not asked: each call would wait for it in vain."""
_NOBODY_WROTE: Final = Standing()


class RedisBreakers:
    """A `BreakerStore`. Belongs to one event loop."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._heard: dict[str, tuple[float, Standing]] = {}
        self._away_until = float("-inf")
        self._refreshing: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<RedisBreakers {len(self._heard)} scopes>"

    def now(self) -> float:
        return self._client.clock.now()

    def peek(self, scope: str) -> Standing | None:
        at, standing = self._heard.get(scope, (float("-inf"), None))
        return standing if self._clock.monotonic() <= at + _FRESH_S else None

    async def load(self, scope: str) -> Standing:
        await self._read((scope,))
        if self._refreshing is None:
            self._refreshing = asyncio.create_task(self._refresh())
            self._client.on_close(self._refreshing.cancel)
        return self._heard[scope][1]

    async def swap(self, scope: str, expected: int, breaker: Breaker) -> Breaker:
        (told,) = await self._ask("swap", scope, expected, breaker_text(scope, breaker))
        standing = breaker_of(scope, told)
        known = self._heard.get(scope, (0.0, _NOBODY_WROTE))[1]
        self._heard[scope] = (self._clock.monotonic(), replace(known, breaker=standing))
        return standing

    async def throttle(self, scope: str, until: float) -> None:
        await self._ask("throttle", scope, until)

    async def _refresh(self) -> None:
        faulty = False
        while True:
            await self._clock.sleep(REFRESH_S)
            try:
                await self._read(tuple(self._heard))
                faulty = False
            except BreakerStoreAway:
                pass
            except Exception as error:  # noqa: BLE001 - nobody waits for this task, and what others write must be heard
                if not faulty:
                    _log.error("what other gateways say of breakers is not understood", exc_info=error)
                faulty = True

    async def _read(self, scopes: tuple[str, ...]) -> None:
        told, standing = await self._ask("breakers", *scopes)
        if self._client.told is not None:
            self._client.told(standing)
        heard_at = self._clock.monotonic()
        for place, scope in enumerate(scopes):
            breaker, until = told[2 * place : 2 * place + 2]
            stands = Standing(breaker=breaker_of(scope, breaker), throttled_until=float(until or 0.0))
            self._heard[scope] = (heard_at, stands)

    async def _ask(self, name: str, *values: Value) -> list[Any]:
        if self._clock.monotonic() < self._away_until:
            raise BreakerStoreAway
        try:
            return (await self._client.ask(name, shared_key("breakers"), values))[1:]
        except StoreUnavailableError as error:
            self._away_until = self._clock.monotonic() + _AWAY_S
            raise BreakerStoreAway from error
