"""Rates and budgets that gateways count together. With the store away each counts for itself: a limit is no reason to refuse."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote

from gateway.adapters.redis.client import Client
from gateway.adapters.redis.memory import shared_key
from gateway.adapters.redis.packing import Value
from gateway.clock import Clock
from gateway.stages.execute.breaker.advance import at_most
from gateway.stages.execute.breaker.rate import Buckets, Quota, Taken
from gateway.stages.execute.breaker.spending import KEPT_S, Purse, Purses
from gateway.stages.execute.operation.ports import StoreUnavailableError

_AWAY_S: Final = 0.5


class RedisLimits:
    """`SharedBuckets` and `Spending` of every gateway on one store."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self.now = clock.monotonic
        self._away_until = float("-inf")
        self._buckets = Buckets()
        self._purses = Purses()

    def __repr__(self) -> str:
        return f"<RedisLimits, {len(self._buckets)} buckets and {len(self._purses)} purses counted here>"

    async def take(self, quotas: Sequence[Quota], most: Sequence[int] = ()) -> Taken:
        # One question for each slot; a call that everybody's limit refuses has used up nothing of its own.
        groups = [list(group) for _, group in groupby(quotas, key=lambda it: it.partition)]
        tokens: list[float] = []
        counts: list[int] = []
        for number, group in enumerate(groups):
            # Several tokens only of the last group: were a later one to refuse the call, all of them would be wasted.
            many = most[len(tokens) :] if number == len(groups) - 1 else ()
            told = await self._ask("take", rate_key(group[0].partition), *_wanted(group, many))
            if told is None:
                return self._buckets.take(quotas, now=self._clock.monotonic())
            refused, wait_s, *each = told
            at = len(tokens)
            tokens += [float(it) for it in each[::2]]
            if int(refused):
                # What others hold of a bucket has reckoned with what was taken: it does not come back for all.
                kept = [bool(most) and at_most(it.rate) > 1 for it in quotas[:at]]
                await self._give([[it] for it, keeps in zip(quotas, kept, strict=False) if not keeps])
                tokens = [it + (not keeps) for it, keeps in zip(tokens, kept, strict=False)] + tokens[at:]
                tokens += [0.0] * (len(quotas) - len(tokens))
                ones = (*map(int, kept), *[0] * (len(quotas) - at))
                return Taken(
                    tokens=tuple(tokens),
                    refused=at + int(refused) - 1,
                    wait_s=float(wait_s),
                    counts=ones if any(kept) else (),
                )
            counts += [int(it) for it in each[1::2]]
        return Taken(tokens=tuple(tokens), counts=tuple(counts))

    async def give(self, quotas: Sequence[Quota]) -> None:
        self._buckets.give(quotas)
        await self._give([list(group) for _, group in groupby(quotas, key=lambda it: it.partition)])

    async def reserve(self, purse: Purse, call: str, amount: float, most: float) -> float | None:
        told = await self._ask("reserve", spent_key(purse.tenant), _named(purse), call, amount, most, KEPT_S)
        if told is None:
            return self._purses.reserve(purse, call, amount, most, now=self._clock.monotonic())
        return float(told[0]) if told[0] else None

    async def release(self, purse: Purse, call: str) -> None:
        self._purses.release(purse, call)
        await self._ask("unreserve", spent_key(purse.tenant), _named(purse), call)

    async def _give(self, groups: Sequence[Sequence[Quota]]) -> None:
        for group in groups:
            await self._ask("give", rate_key(group[0].partition), *_asked(group))

    async def _ask(self, name: str, key: str, *values: Value) -> list[Any] | None:
        if self._clock.monotonic() < self._away_until:
            return None
        try:
            return (await self._client.ask(name, key, values))[1:]
        except StoreUnavailableError:
            self._away_until = self._clock.monotonic() + _AWAY_S
            return None


def rate_key(partition: str) -> str:
    """What the keys of a partition's buckets begin with: all in one slot."""
    return f"oncegate:{{{quote(partition, safe='')}}}:rate" if partition else shared_key("rate")


def spent_key(tenant: str) -> str:
    """What the keys of a tenant's purses begin with."""
    return f"oncegate:{{{quote(tenant, safe='')}}}:spent"


def _named(purse: Purse) -> str:
    return f"{quote(purse.run_id, safe='')}:{quote(purse.unit, safe='')}"


def _asked(quotas: Sequence[Quota]) -> list[Value]:
    return [value for it in quotas for value in (it.key, it.rate.count, it.rate.per_s)]


def _wanted(quotas: Sequence[Quota], most: Sequence[int]) -> list[Value]:
    each = zip(quotas, most or [1] * len(quotas), strict=True)
    return [value for it, many in each for value in (it.key, it.rate.count, it.rate.per_s, many)]
