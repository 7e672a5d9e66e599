"""Slots: never more than there are, never one lost."""

import asyncio
import time

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gateway.adapters.http_tool import pool as pool_module
from gateway.adapters.http_tool.origin import parse_origin
from gateway.adapters.http_tool.pool import Pool
from gateway.adapters.http_tool.progress import Failed
from gateway.adapters.system.clock import SystemClock
from gateway.stages.execute.attempt.exchange import Fault
from tests.faults.raw_server import OK, REQUEST, hold, listen, send, serve
from tests.gateway.adapters.http_tool.conftest import Make, Serve, limits, pools, request_to, settled, told
from tests.waiting import turns

ORIGIN = parse_origin("http://pay.example")


def pool_of(limit: int) -> Pool:
    return Pool(ORIGIN, SystemClock(), limit=limit)


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


async def waiting(pool: Pool, *, reserved: bool = False) -> asyncio.Task[object]:
    """A call that has no slot yet."""
    task: asyncio.Task[object] = asyncio.create_task(pool.acquire(until=soon(), reserved=reserved))
    await turns()
    return task


async def test_its_representation_counts() -> None:
    """Origin, active, idle, waiting."""
    pool = pool_of(1)
    await pool.acquire(until=soon())
    task = await waiting(pool)

    assert repr(pool) == "<Pool http://pay.example 1 active, 0 idle, 1 waiting>"
    pool.free()
    await task
    assert repr(pool) == "<Pool http://pay.example 1 active, 0 idle, 0 waiting>"


async def test_slots_are_given_in_the_order_asked_for() -> None:
    """Nobody overtakes."""
    pool = pool_of(1)
    await pool.acquire(until=soon())
    first, second = await waiting(pool), await waiting(pool)

    pool.free()
    await first

    assert (first.done(), second.done()) == (True, False)
    pool.free()
    await second


async def test_waiting_for_a_slot_is_bounded() -> None:
    """POOL_TIMEOUT, and the place in the queue is gone."""
    pool = pool_of(1)
    await pool.acquire(until=soon())

    with pytest.raises(Failed) as failed:
        await pool.acquire(until=soon(0.03))

    assert failed.value.fault is Fault.POOL_TIMEOUT
    assert repr(pool) == "<Pool http://pay.example 1 active, 0 idle, 0 waiting>"


async def test_a_slot_granted_to_someone_who_just_left_goes_to_the_next() -> None:
    """Grant and cancellation in the same turn of the loop: the usual way to lose a slot for good."""
    pool = pool_of(1)
    await pool.acquire(until=soon())
    leaving, staying = await waiting(pool), await waiting(pool)

    pool.free()
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)

    assert leaving.cancelled()
    assert await staying is None
    pool.free()
    assert repr(pool) == "<Pool http://pay.example 0 active, 0 idle, 0 waiting>"


async def test_a_look_up_has_a_slot_of_its_own() -> None:
    """One beyond the bound, for calls with `reserved` only."""
    pool = pool_of(1)
    await pool.acquire(until=soon())
    ordinary = await waiting(pool)

    assert await pool.acquire(until=soon(), reserved=True) is None
    second_look_up = await waiting(pool, reserved=True)
    pool.free()
    await second_look_up
    assert not ordinary.done()
    pool.free()
    pool.free()
    await ordinary
    assert repr(pool) == "<Pool http://pay.example 1 active, 0 idle, 0 waiting>"


async def test_a_reset_turns_away_who_waits() -> None:
    """As ABORTED."""
    pool = pool_of(1)
    await pool.acquire(until=soon())
    task = await waiting(pool)

    pool.reset()

    with pytest.raises(Failed) as failed:
        await task
    assert failed.value.fault is Fault.ABORTED


async def test_the_pool_bounds_what_is_open(raw_server: Serve, make_transport: Make) -> None:
    """Thirty callers, three connections."""
    server = raw_server([serve()])
    transport = make_transport(server, connections=3)

    exchanges = await asyncio.gather(*(transport.exchange(request_to(server), limits()) for _ in range(30)))

    assert {exchange.answer.status for exchange in exchanges if exchange.answer} == {200}
    assert (server.arrived, server.connections, pools(transport)) == (30, 3, "0 active, 3 idle, 0 waiting")


async def test_a_connection_at_hand_is_told_of(raw_server: Serve, make_transport: Make) -> None:
    """Where one is idle and its slot is free; an origin that is none has none."""
    server = raw_server([serve()])
    transport = make_transport(server, connections=1)
    seen = [transport.has_idle(server.origin), transport.has_idle("gopher://pay.example")]
    during: list[bool] = []

    async def gate() -> None:
        during.append(transport.has_idle(server.origin))

    await transport.exchange(request_to(server), limits(), gate)
    after = transport.has_idle(server.origin)
    await transport.exchange(request_to(server), limits(), gate)

    assert (seen, during, after) == ([False, False], [False, False], True)


async def test_a_full_pool_is_told_as_such(raw_server: Serve, make_transport: Make) -> None:
    """Phase NONE: nothing was even tried; the deadline is called by its own name."""
    server = raw_server([REQUEST, hold])
    transport = make_transport(server, connections=1)
    holding = asyncio.create_task(transport.exchange(request_to(server), limits()))
    await server.wait_for(lambda server: server.arrived == 1)

    assert told(await transport.exchange(request_to(server), limits(pool_s=0.03))) == "pool_timeout [none]"
    assert told(await transport.exchange(request_to(server), limits(total_s=0.03))) == "deadline [none]"
    holding.cancel()
    await asyncio.gather(holding, return_exceptions=True)


async def test_a_look_up_gets_through_a_full_pool(raw_server: Serve, make_transport: Make) -> None:
    """While writes hold every ordinary connection."""
    server = raw_server([REQUEST, hold], [serve()])
    transport = make_transport(server, connections=1)
    holding = asyncio.create_task(transport.exchange(request_to(server), limits()))
    await server.wait_for(lambda server: server.arrived == 1)

    exchange = await transport.exchange(request_to(server), limits(reserved=True, pool_s=0.03))

    assert told(exchange) == "200 2B [complete]"
    holding.cancel()
    await asyncio.gather(holding, return_exceptions=True)


async def test_the_youngest_connection_is_used_first(raw_server: Serve, make_transport: Make) -> None:
    """So that the old ones can fall idle and go."""
    server = raw_server([serve()])
    transport = make_transport(server)
    await asyncio.gather(*(transport.exchange(request_to(server), limits()) for _ in range(2)))
    (pool,) = transport._pools.values()
    oldest = pool._idle[0]

    for _ in range(5):
        await transport.exchange(request_to(server), limits())

    assert (pool._idle[0], oldest.carried) == (oldest, 1)


async def test_a_fresh_connection_is_a_new_one(raw_server: Serve, make_transport: Make) -> None:
    """And when the pool is full of idle ones, the oldest makes room."""
    server = raw_server([serve()])
    transport = make_transport(server, connections=1)

    lines = [told(await transport.exchange(request_to(server), limits(fresh_connection=True))) for _ in range(3)]

    assert (lines, server.connections) == (["200 2B [complete]"] * 3, 3)
    assert await settled(transport) == "0 active, 1 idle, 0 waiting"


async def test_an_idle_connection_is_closed_after_a_while(
    raw_server: Serve, make_transport: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the peer does; nobody has to come by for it."""
    monkeypatch.setattr(pool_module, "IDLE_S", 0.05)
    server = raw_server([REQUEST, send(OK), listen])
    transport = make_transport(server)
    await transport.exchange(request_to(server), limits())
    assert pools(transport) == "0 active, 1 idle, 0 waiting"

    await server.all_scripts_ended()

    assert server.events == ["closed"]
    assert await settled(transport) == "0 active, 0 idle, 0 waiting"


async def test_an_idle_connection_past_its_time_is_not_used(
    raw_server: Serve, make_transport: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although the loop was too busy to close it."""
    server = raw_server([serve()])
    transport = make_transport(server)
    await transport.exchange(request_to(server), limits())

    monkeypatch.setattr(pool_module, "IDLE_S", 0.0)

    assert told(await transport.exchange(request_to(server), limits())) == "200 2B [complete]"
    assert server.connections == 2


def test_idle_connections_are_kept_for_less_than_servers_keep_them() -> None:
    """Common servers close after 5 s."""
    assert pool_module.IDLE_S == 4.0


class Slots(RuleBasedStateMachine):
    """Callers come, leave, are served and give back in any order."""

    LIMIT = 2

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.pool = self.run(self._make())
        self.calls: list[asyncio.Task[object]] = []
        self.held = 0

    async def _make(self) -> Pool:
        return pool_of(self.LIMIT)

    def run(self, work: object) -> Pool:
        return self.loop.run_until_complete(work)  # type: ignore[arg-type]

    def turn(self) -> None:
        async def some_turns() -> None:
            await turns(4)

        self.loop.run_until_complete(some_turns())
        for call in [call for call in self.calls if call.done()]:
            self.calls.remove(call)
            self.held += not call.cancelled()

    @rule(reserved=st.booleans(), fresh=st.booleans())
    def ask(self, *, reserved: bool, fresh: bool) -> None:
        call = self.pool.acquire(until=soon(1_000.0), reserved=reserved, fresh=fresh)
        self.calls.append(self.loop.create_task(call))

    @rule(place=st.integers(0, 9))
    def leave(self, place: int) -> None:
        if self.calls:
            self.calls[place % len(self.calls)].cancel()

    @rule()
    def give_back(self) -> None:
        if self.held:
            self.held -= 1
            self.pool.free()

    @rule()
    def pass_time(self) -> None:
        self.turn()

    @invariant()
    def never_more_than_there_are(self) -> None:
        assert 0 <= self.pool._active <= self.LIMIT + 1

    def teardown(self) -> None:
        self.turn()
        while self.calls or self.held:
            while self.held:
                self.give_back()
            self.turn()
        assert repr(self.pool) == "<Pool http://pay.example 0 active, 0 idle, 0 waiting>"
        self.loop.close()


TestSlots = Slots.TestCase
TestSlots.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
