"""What every breaker store does, in one process or on a server, and what two gateways see through it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from gateway.adapters.memory.breakers import MemoryBreakers
from gateway.adapters.redis.breakers import RedisBreakers
from gateway.adapters.redis.memory import Memory
from gateway.adapters.sqlite.breakers import SqliteBreakers
from gateway.at_rest.sealing import Sealer
from gateway.contract.codes import BreakerCount
from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.breaker import Breaker, Kind, NotPermitted, Refusal, State
from gateway.stages.execute.breaker.evidence import Evidence
from gateway.stages.execute.breaker.guard import Guard, Permit
from gateway.stages.execute.breaker.ports import BreakerStore, Standing
from tests import redis_servers
from tests.clocks import ManualClock
from tests.conformance.stores import TimedClient
from tests.conformance.stores import host as host_of

SCOPE = "payments"
POLICY = BreakerPolicy(scope=SCOPE, consecutive=2, min_calls=100, open_s=60.0)
FAILED = Evidence(count=BreakerCount.FAILURE, code="connect_failed")
WORKED = Evidence(count=BreakerCount.SUCCESS)

Open = Callable[[], BreakerStore]


@pytest.fixture(params=["memory", "sqlite", *redis_servers.KINDS])
async def opened(request: pytest.FixtureRequest, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Open]:
    """Each kind of store in turn; each call is one more gateway's view of it."""
    if request.param == "memory":
        only = MemoryBreakers(clock)
        yield lambda: only
        return
    if request.param == "sqlite":
        yield lambda: SqliteBreakers(tmp_path / "store.db-breakers", host_of(clock))
        return
    redis_servers.need(request.param)
    server = redis_servers.shared(request.param)
    server.client.flushall()
    clients: list[TimedClient] = []

    def view() -> BreakerStore:
        client = TimedClient(server, clock)
        Memory(client, Sealer())
        clients.append(client)
        return RedisBreakers(client, clock)

    yield view
    for client in clients:
        client.close()


async def test_nobody_wrote_is_closed(opened: Open) -> None:
    """A scope nobody ever tripped."""
    assert await opened().load(SCOPE) == Standing()


async def test_a_swap_needs_the_expected_generation(opened: Open) -> None:
    """The second of two writers from one generation is told what the first wrote, and the first that it did."""
    one, other = opened(), opened()
    first, second = (Breaker(state=State.OPEN, generation=1, mark=mark) for mark in "ab")

    assert await one.swap(SCOPE, 0, first) == first
    assert await other.swap(SCOPE, 0, second) == first
    assert await one.swap(SCOPE, 0, first) == first
    assert (await other.load(SCOPE), await other.load("orders")) == (Standing(breaker=first), Standing())


async def test_one_of_many_swaps_wins(opened: Open) -> None:
    """Of twenty at once."""
    stores = [opened() for _ in range(5)] * 4
    wanted = [Breaker(state=State.HALF_OPEN, generation=1, mark=f"{n}") for n in range(20)]
    answers = await asyncio.gather(
        *(store.swap(SCOPE, 0, breaker) for store, breaker in zip(stores, wanted, strict=True))
    )

    assert len({answer.mark for answer in answers}) == 1


async def test_the_later_throttle_stays(opened: Open) -> None:
    """Throttling keeps the breaker, and never shortens."""
    one, other = opened(), opened()
    breaker = Breaker(state=State.OPEN, generation=1)
    await one.swap(SCOPE, 0, breaker)
    await one.throttle(SCOPE, 9.5)
    await other.throttle(SCOPE, 5.0)

    assert await other.load(SCOPE) == Standing(breaker=breaker, throttled_until=9.5)


async def test_a_cold_gateway_lets_nobody_through(opened: Open) -> None:
    """One gateway has tripped; another that never called refuses all, and between them one probe goes out."""
    warm, cold = (Guard(opened(), draw=lambda: 0.5, token=_tokens(name)) for name in ("w", "c"))
    for _ in range(POLICY.consecutive):
        held = await _ask(warm)
        assert isinstance(held, Permit)
        await warm.settle(held, POLICY, FAILED)

    answers = await asyncio.gather(*(_ask(cold) for _ in range(50)))
    assert {answer.reason for answer in answers if isinstance(answer, NotPermitted)} == {Refusal.OPEN}
    assert not any(isinstance(answer, Permit) for answer in answers)


async def test_one_probe_goes_out_between_gateways(opened: Open, clock: ManualClock) -> None:
    """Fifty callers at two gateways when the time is over: one goes; its success closes the breaker for both."""
    one, other = (Guard(opened(), draw=lambda: 0.5, token=_tokens(name)) for name in ("o", "t"))
    for _ in range(POLICY.consecutive):
        held = await _ask(one)
        assert isinstance(held, Permit)
        await one.settle(held, POLICY, FAILED)
    await clock.advance(61.0)

    answers = await asyncio.gather(*(_ask(guard) for guard in (one, other) for _ in range(25)))
    probes = [(n, answer) for n, answer in enumerate(answers) if isinstance(answer, Permit)]
    assert len(probes) == 1
    ((number, probe),) = probes
    await (one if number < 25 else other).settle(probe, POLICY, WORKED)
    await clock.advance(1.1)

    assert isinstance(await _ask(one), Permit)
    assert isinstance(await _ask(other), Permit)


async def _ask(guard: Guard) -> Permit | NotPermitted:
    return await guard.permit(SCOPE, POLICY, kind=Kind.SAFE, lease_s=20.0)


def _tokens(name: str) -> Callable[[], str]:
    numbers = iter(range(1_000_000))
    return lambda: f"{name}-{next(numbers)}"
