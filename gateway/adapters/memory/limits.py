"""Slots, rates and retry budgets of one process: the pure counters, with sleeping callers behind them."""

import asyncio
import itertools
from collections.abc import Sequence

from gateway.clock import Clock
from gateway.stages.execute.breaker.breaker import Kind
from gateway.stages.execute.breaker.bulkhead import (
    LOOKUP_SLOTS,
    Berth,
    Bulkhead,
    Entry,
    Freed,
    abandon,
    enter,
    fall_silent,
    leave,
    listen,
)
from gateway.stages.execute.breaker.rate import Buckets, Quota, Taken
from gateway.stages.execute.breaker.spending import Purse, Purses
from gateway.stages.retry.budget import Budget, earn, spend


class MemoryBulkheads:
    """`Bulkheads` for the tasks of one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._compartments: dict[tuple[str, bool], _Compartment] = {}

    async def enter(self, scope: str, *, kind: Kind, slots: int, listening: int, wait_s: float) -> "MemorySlot | Entry":
        name = (scope, kind is Kind.LOOKUP)
        compartment = self._compartments.get(name)
        if compartment is None:
            compartment = self._compartments[name] = _Compartment(self._clock)
        return await compartment.enter(
            slots=LOOKUP_SLOTS if kind is Kind.LOOKUP else slots,
            listening=listening if kind is Kind.PLAIN else None,
            wait_s=wait_s,
        )

    def has_room(self, scope: str, *, slots: int) -> bool:
        compartment = self._compartments.get((scope, False))
        return compartment is None or (not compartment.bulkhead.queue and compartment.bulkhead.running < slots)

    def counts(self, scope: str) -> Bulkhead:
        """Who runs, listens and waits now, look-ups apart."""
        compartment = self._compartments.get((scope, False))
        return Bulkhead() if compartment is None else compartment.bulkhead


class _Compartment:
    def __init__(self, clock: Clock) -> None:
        self.bulkhead = Bulkhead()
        self._clock = clock
        self._tickets = itertools.count()
        self._waiters: dict[int, asyncio.Future[Entry]] = {}

    async def enter(self, *, slots: int, listening: int | None, wait_s: float) -> "MemorySlot | Entry":
        berth = Berth(ticket=next(self._tickets), slots=slots, listening=listening)
        self.bulkhead, entry = enter(self.bulkhead, berth)
        if entry is Entry.QUEUED:
            entry = await self._wait(berth.ticket, wait_s)
        return MemorySlot(self) if entry is Entry.ENTERED else entry

    def apply(self, freed: Freed) -> None:
        self.bulkhead = freed.bulkhead
        for tickets, entry in ((freed.entered, Entry.ENTERED), (freed.refused, Entry.LISTENING_FULL)):
            for ticket in tickets:
                self._waiters[ticket].set_result(entry)

    async def _wait(self, ticket: int, wait_s: float) -> Entry:
        turn: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()
        self._waiters[ticket] = turn
        alarm = asyncio.create_task(self._give_up(ticket, turn, wait_s))
        try:
            # Shielded: a future that a cancelled task takes down with it could not say whether a slot came too.
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            if turn.done() and turn.result() is Entry.ENTERED:
                self.apply(leave(self.bulkhead))
            else:
                self.apply(abandon(self.bulkhead, ticket))
            raise
        finally:
            alarm.cancel()
            del self._waiters[ticket]

    async def _give_up(self, ticket: int, turn: "asyncio.Future[Entry]", wait_s: float) -> None:
        await self._clock.sleep(wait_s)
        if not turn.done():
            turn.set_result(Entry.QUEUED)
            self.apply(abandon(self.bulkhead, ticket))


class MemorySlot:
    """A `Slot`."""

    def __init__(self, compartment: _Compartment) -> None:
        self._compartment = compartment
        self._running = True
        self._held = True

    def listen(self) -> None:
        if self._held and self._running:
            self._running = False
            self._compartment.apply(listen(self._compartment.bulkhead))

    def leave(self) -> None:
        if not self._held:
            return
        self._held = False
        if self._running:
            self._compartment.apply(leave(self._compartment.bulkhead))
        else:
            self._compartment.bulkhead = fall_silent(self._compartment.bulkhead)


class MemoryLimits:
    """`SharedBuckets` and `Spending` counted in this process alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._buckets = Buckets()
        self.now = clock.monotonic
        self._purses = Purses()

    async def take(self, quotas: Sequence[Quota], most: Sequence[int] = ()) -> Taken:
        return self._buckets.take(quotas, most, now=self._clock.monotonic())

    async def give(self, quotas: Sequence[Quota]) -> None:
        self._buckets.give(quotas)

    async def reserve(self, purse: Purse, call: str, amount: float, most: float) -> float | None:
        return self._purses.reserve(purse, call, amount, most, now=self._clock.monotonic())

    async def release(self, purse: Purse, call: str) -> None:
        self._purses.release(purse, call)


class MemoryRetryBudgets:
    """`RetryBudgets` counted in this process alone."""

    def __init__(self) -> None:
        self._budgets: dict[str, Budget] = {}

    def of(self, scope: str) -> Budget:
        return self._budgets.get(scope, _FULL)

    def earn(self, scope: str, ratio: float) -> None:
        self._budgets[scope] = earn(self.of(scope), ratio)

    def spend(self, scope: str) -> None:
        self._budgets[scope] = spend(self.of(scope))


_FULL = Budget()
