"""Rates of which a process takes several tokens at once, and spends them without asking: `RateLimits` over a store's buckets."""

from collections.abc import Callable, Sequence
from typing import Any

from gateway.stages.execute.breaker.advance import Slice, Slices, at_most
from gateway.stages.execute.breaker.ports import SharedBuckets
from gateway.stages.execute.breaker.rate import Quota, Taken


class Advances:
    """How many are taken, and how long they may be spent, is `gateway.stages.execute.breaker.advance`.

    Attributes:
        now: the store's.
    """

    def __init__(self, store: SharedBuckets) -> None:
        self.now: Callable[[], float] = store.now
        self._store = store
        self._slices = Slices()

    def __repr__(self) -> str:
        return f"<Advances of {len(self._slices)} buckets, {self._store!r}>"

    def spend(self, quotas: Sequence[Quota]) -> tuple[float, ...] | None:
        """Take one call from every quota out of what is held: what is left. None: one of them has to be asked for."""
        now, spend = self.now(), self._slices.spend
        left: list[float] = []
        for it in quotas:
            tokens = spend(it, now)
            if tokens is None:
                for spent in quotas[: len(left)]:
                    self._slices.unspend(spent)
                return None
            left.append(tokens)
        return tuple(left)

    async def take(self, quotas: Sequence[Quota]) -> Taken:
        """Take one call from every quota, or from none: of what is held, and where nothing is, of the store's."""
        now = self.now()
        spent: list[Any] = [self._slices.spend(it, now) for it in quotas]
        if None not in spent:
            return Taken(tokens=tuple(spent), since=self.since(quotas))
        return await self._ask(quotas, spent, now)

    def since(self, quotas: Sequence[Quota]) -> tuple[float | None, ...]:
        """Of which slices the tokens are that `spend` gave just now."""
        return tuple([self._slices.since(it) for it in quotas])

    async def give(self, quotas: Sequence[Quota], since: Sequence[float | None]) -> None:
        """Put one back into each: where tokens are taken in advance into the slice it came from, else for all processes."""
        apart = [it for it in quotas if at_most(it.rate) == 1]
        for it, at in zip(quotas, since, strict=True):
            self._slices.put_back(it, at)
        if apart:
            await self._store.give(apart)

    async def _ask(self, quotas: Sequence[Quota], spent: Sequence[float | None], now: float) -> Taken:
        """Take from the store what is not held. Where it refuses, nothing is spent of what is."""
        slices = [self._slices.of(it, now) for it in quotas]
        places = [place for place, tokens in enumerate(spent) if tokens is None]
        held = [(it, it.at) for it, tokens in zip(slices, spent, strict=True) if it is not None and tokens is not None]
        since = [None if it is None else it.at for it in slices]
        # A slice that another call is asking for already is left to it.
        own = [it if it is not None and not it.asking else None for it in (slices[place] for place in places)]
        refused = True
        try:
            most = [1 if it is None else it.wanted(now) for it in own]
            taken = await self._store.take([quotas[place] for place in places], most)
            refused = taken.refused is not None
        finally:
            for each in filter(None, own):
                each.asking = False
            if refused:
                for each, at in held:
                    each.unspend(at)
        counts = (0 if refused else 1,) * len(own)
        for it, many, left in zip(own, taken.counts or counts, taken.tokens, strict=True):
            if it is not None:
                it.fill(many, left, asked_at=now)
                if refused and many:
                    # Taken before another bucket refused: it is spent on nothing.
                    it.unspend(now)
        for place, it in zip(places, own, strict=True):
            # One that came alone may be older than what others have taken since.
            since[place] = None if it is None else it.at
        return _whole(taken, places, own, spent, tuple(since))


def _whole(
    taken: Taken,
    places: Sequence[int],
    own: Sequence[Slice | None],
    spent: Sequence[float | None],
    since: tuple[float | None, ...],
) -> Taken:
    """What came of all quotas, of which the store was asked about those at `places`."""
    refused = taken.refused
    tokens = [0.0 if it is None else it if refused is None else it + 1.0 for it in spent]
    for place, it, left in zip(places, own, taken.tokens, strict=True):
        tokens[place] = left if it is None else left + it.held
    whose = None if refused is None else places[refused]
    return Taken(tokens=tuple(tokens), refused=whose, wait_s=taken.wait_s, since=since)
