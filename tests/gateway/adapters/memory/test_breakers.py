"""Breaker states of one process."""

from gateway.adapters.memory.breakers import MemoryBreakers
from gateway.contract.codes import BreakerCount
from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.breaker import Breaker, Kind, NotPermitted, Refusal, State
from gateway.stages.execute.breaker.evidence import Evidence
from gateway.stages.execute.breaker.guard import Guard, Permit
from gateway.stages.execute.breaker.ports import BreakerStore, Standing
from tests.clocks import ManualClock


def store() -> tuple[MemoryBreakers, ManualClock]:
    """A store and the clock it reads."""
    clock = ManualClock()
    return MemoryBreakers(clock), clock


async def test_nobody_wrote_is_closed() -> None:
    """A scope nobody ever tripped needs no look."""
    breakers, _ = store()
    port: BreakerStore = breakers

    assert port.peek("payments") == await port.load("payments") == Standing()


async def test_a_swap_needs_the_expected_generation() -> None:
    """The second of two writers from one generation is told what the first wrote."""
    breakers, _ = store()
    first = Breaker(state=State.OPEN, generation=1, mark="a")
    second = Breaker(state=State.OPEN, generation=1, mark="b")

    assert await breakers.swap("payments", 0, first) == first
    assert await breakers.swap("payments", 0, second) == first
    assert breakers.peek("payments") == Standing(breaker=first)
    assert breakers.peek("orders") == Standing()


async def test_the_later_throttle_stays() -> None:
    """Throttling keeps the breaker, and never shortens."""
    breakers, _ = store()
    opened = Breaker(state=State.OPEN, generation=1)
    await breakers.swap("payments", 0, opened)
    await breakers.throttle("payments", 9.0)
    await breakers.throttle("payments", 5.0)

    assert breakers.peek("payments") == Standing(breaker=opened, throttled_until=9.0)


async def test_its_time_is_the_clocks() -> None:
    """What a guard decides on this store follows the process's clock."""
    breakers, clock = store()
    guard = Guard(breakers, draw=lambda: 0.5, token=lambda: "t")
    policy = BreakerPolicy(scope="payments", consecutive=1, open_s=60.0)
    held = await guard.permit("payments", policy, kind=Kind.SAFE, lease_s=5.0)
    assert isinstance(held, Permit)
    await guard.settle(held, policy, Evidence(count=BreakerCount.FAILURE, code="connect_failed"))

    refused = await guard.permit("payments", policy, kind=Kind.SAFE, lease_s=5.0)
    await clock.advance(60.0)
    probe = await guard.permit("payments", policy, kind=Kind.SAFE, lease_s=5.0)

    assert isinstance(refused, NotPermitted)
    assert refused.reason is Refusal.OPEN
    assert isinstance(probe, Permit)
    assert probe.probe
