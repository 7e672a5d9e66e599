"""Slots, rates and budgets of one process, with real tasks waiting for them."""

import asyncio
import random

import pytest

from gateway.adapters.memory.limits import MemoryBulkheads, MemoryLimits, MemoryRetryBudgets, MemorySlot
from gateway.manifest.policies import Rate
from gateway.stages.execute.breaker.breaker import Kind
from gateway.stages.execute.breaker.bulkhead import LOOKUP_SLOTS, WAITERS_PER_SLOT, Bulkhead, Entry
from gateway.stages.execute.breaker.ports import Bulkheads, SharedBuckets, Spending
from gateway.stages.execute.breaker.rate import Quota
from gateway.stages.execute.breaker.spending import Purse
from gateway.stages.retry.budget import RESERVE
from gateway.stages.retry.ports import RetryBudgets
from tests.clocks import ManualClock


class Crowd:
    """Callers of one scope."""

    def __init__(self, *, slots: int = 1, listening: int = 1) -> None:
        self.clock = ManualClock()
        self.bulkheads = MemoryBulkheads(self.clock)
        self.port: Bulkheads = self.bulkheads
        self._slots = slots
        self._listening = listening

    async def ask(self, kind: Kind = Kind.SAFE, *, wait_s: float = 1.0) -> MemorySlot | Entry:
        """Ask for a slot."""
        return await self.bulkheads.enter(
            "payments", kind=kind, slots=self._slots, listening=self._listening, wait_s=wait_s
        )

    async def enter(self, kind: Kind = Kind.SAFE) -> MemorySlot:
        """Ask for a slot and get it."""
        slot = await self.ask(kind)
        assert isinstance(slot, MemorySlot)
        return slot

    def wait(self, kind: Kind = Kind.SAFE, *, wait_s: float = 1.0) -> "asyncio.Task[MemorySlot | Entry]":
        """Queue for a slot."""
        return asyncio.create_task(self.ask(kind, wait_s=wait_s))

    @property
    def counts(self) -> Bulkhead:
        """Who is there."""
        return self.bulkheads.counts("payments")


@pytest.mark.parametrize("slots", [1, 3])
async def test_slots_bound_what_runs(slots: int) -> None:
    """As many run as `slots` says; the next gets the first slot that is given back."""
    crowd = Crowd(slots=slots)
    held = [await crowd.enter() for _ in range(slots)]
    waiter = crowd.wait()
    await crowd.clock.sleepers(1)
    assert not waiter.done()

    held[0].leave()

    assert isinstance(await waiter, MemorySlot)
    assert crowd.counts == Bulkhead(running=slots)
    await crowd.clock.settle()
    assert crowd.clock.sleeping == 0


async def test_first_come_first_served() -> None:
    """Waiters get their turn in the order in which they came."""
    crowd, served = Crowd(), list[int]()
    held = await crowd.enter()

    async def call(number: int) -> None:
        """Run when its turn comes."""
        slot = await crowd.ask()
        assert isinstance(slot, MemorySlot)
        served.append(number)
        slot.leave()

    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(call(number))
        await crowd.clock.sleepers(5)
        held.leave()

    assert served == [0, 1, 2, 3, 4]
    assert crowd.counts == Bulkhead()


async def test_a_waiter_leaves_when_its_time_is_over() -> None:
    """Each waits no longer than it can afford, and the queue forgets it."""
    crowd = Crowd()
    held = await crowd.enter()
    hurried, patient = crowd.wait(wait_s=1.0), crowd.wait(wait_s=9.0)
    await crowd.clock.sleepers(2)

    await crowd.clock.advance(1.0)

    assert await hurried is Entry.QUEUED
    held.leave()
    assert isinstance(await patient, MemorySlot)
    assert crowd.counts == Bulkhead(running=1)


async def test_a_full_queue_refuses_at_once() -> None:
    """Beyond the bound nobody starts to wait."""
    crowd = Crowd()
    held = await crowd.enter()
    waiters = [crowd.wait() for _ in range(WAITERS_PER_SLOT)]
    await crowd.clock.sleepers(WAITERS_PER_SLOT)

    assert await crowd.ask() is Entry.QUEUE_FULL
    for waiter in waiters:
        waiter.cancel()
    await asyncio.gather(*waiters, return_exceptions=True)
    held.leave()
    assert crowd.counts == Bulkhead()


async def test_scopes_know_nothing_of_one_another() -> None:
    """A dependency that is full does not stop another."""
    crowd = Crowd()
    await crowd.enter()

    slot = await crowd.port.enter("orders", kind=Kind.SAFE, slots=1, listening=1, wait_s=0.0)

    assert not isinstance(slot, Entry)


async def test_look_ups_have_slots_of_their_own() -> None:
    """A jam of calls keeps no unknown open, and look-ups are few."""
    crowd = Crowd()
    await crowd.enter()

    for _ in range(LOOKUP_SLOTS):
        await crowd.enter(Kind.LOOKUP)
    waiter = crowd.wait(Kind.LOOKUP)
    await crowd.clock.sleepers(1)
    await crowd.clock.advance(1.0)

    assert await waiter is Entry.QUEUED
    assert crowd.counts == Bulkhead(running=1)


async def test_a_listener_leaves_its_slot_and_counts_until_it_ends() -> None:
    """A plain write that listens lets others run, but no further plain write beyond the bound."""
    crowd = Crowd(listening=1)
    slot = await crowd.enter(Kind.PLAIN)

    slot.listen()

    assert crowd.counts == Bulkhead(listening=1)
    assert await crowd.ask(Kind.PLAIN) is Entry.LISTENING_FULL
    (await crowd.enter(Kind.SAFE)).leave()
    slot.leave()
    (await crowd.enter(Kind.PLAIN)).leave()
    assert crowd.counts == Bulkhead()


async def test_a_plain_write_whose_turn_comes_too_late_is_refused() -> None:
    """A slot freed by listening does not go to a write that would exceed the bound."""
    crowd = Crowd(listening=1)
    slot = await crowd.enter(Kind.PLAIN)
    waiter = crowd.wait(Kind.PLAIN)
    await crowd.clock.sleepers(1)

    slot.listen()

    assert await waiter is Entry.LISTENING_FULL


async def test_leaving_twice_is_leaving_once() -> None:
    """A slot that was given back cannot be given back again, nor listen."""
    crowd = Crowd(slots=2)
    first, second = await crowd.enter(), await crowd.enter()
    first.leave()
    first.leave()
    first.listen()
    second.listen()
    second.listen()

    assert crowd.counts == Bulkhead(listening=1)


async def test_cancelling_in_the_moment_of_the_turn_loses_no_slot() -> None:
    """A caller that is cancelled after it got its slot and before it could run gives it back."""
    crowd = Crowd()
    held = await crowd.enter()
    waiter, next_one = crowd.wait(), crowd.wait()
    await crowd.clock.sleepers(2)

    held.leave()
    waiter.cancel()

    assert isinstance(await next_one, MemorySlot)
    assert waiter.cancelled()
    assert crowd.counts == Bulkhead(running=1)


@pytest.mark.parametrize("seed", range(20))
async def test_a_storm_of_cancellations_loses_no_slot(seed: int) -> None:
    """Callers that come, run, listen and are cancelled at any moment leave nothing behind."""
    chance, crowd = random.Random(seed), Crowd(slots=3, listening=2)  # noqa: S311 - a repeatable storm

    async def call() -> None:
        """Wait, run, listen, leave."""
        kind = chance.choice(list(Kind))
        slot = await crowd.ask(kind, wait_s=chance.uniform(0.1, 2.0))
        if isinstance(slot, Entry):
            return
        try:
            await crowd.clock.sleep(chance.uniform(0.0, 0.5))
            if kind is Kind.PLAIN:
                slot.listen()
                await crowd.clock.sleep(chance.uniform(0.0, 2.0))
        finally:
            slot.leave()

    tasks = list[asyncio.Task[None]]()
    for _ in range(100):
        tasks.append(asyncio.create_task(call()))
        if chance.random() < 0.3:
            await crowd.clock.advance(chance.uniform(0.0, 0.3))
        if chance.random() < 0.5:
            chance.choice(tasks).cancel()
        assert crowd.counts.running <= 3
    await crowd.clock.advance(10.0)
    await asyncio.gather(*tasks, return_exceptions=True)

    assert crowd.counts == Bulkhead()
    for _ in range(3):
        await crowd.enter()


async def test_rates_and_budgets_go_by_the_clock() -> None:
    """What is counted is in `tests/conformance/test_limits.py`."""
    clock = ManualClock()
    counted = MemoryLimits(clock)
    rates: SharedBuckets = counted
    spending: Spending = counted
    quota = Quota(name="n", partition="acme", key="k", rate=Rate(count=1, per_s=10.0))
    purse = Purse(tenant="acme", run_id="r", unit="u")

    assert [(await rates.take([quota])).refused for _ in range(2)] == [None, 0]
    await clock.advance(10.0)
    assert (await rates.take([quota])).refused is None
    assert [await spending.reserve(purse, call, 1, 1) for call in "ab"] == [None, 1.0]
    await spending.release(purse, "a")
    assert await spending.reserve(purse, "b", 1, 1) is None


def test_budgets_are_kept_for_each_dependency() -> None:
    """One dependency's retries cost another nothing."""
    budgets: RetryBudgets = MemoryRetryBudgets()
    budgets.spend("payments")
    budgets.spend("payments")
    budgets.earn("payments", 0.5)

    assert budgets.of("payments").tokens == RESERVE - 1.5
    assert budgets.of("orders").tokens == RESERVE
