"""A gateway whose store is away comes up all the same: reads are served, and no write before the store may be trusted."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.contract.call import ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.contract.requests import ExecutionQuery, StartRefusedError
from gateway.pipeline.core import Pipeline
from gateway.pipeline.opening import Opening
from gateway.pipeline.pinning import Pins
from gateway.stages.execute.operation.ports import StoreUnavailableError, StoreUnfitError
from tests.clocks import ManualClock
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.rig import CALLER, Rig, keyed, plain
from tests.gateway.pipeline.test_pinning import rewrite
from tests.gateway.pipeline.trouble import Wires, everything
from tests.waiting import eventually

# Pulse, sweeper, inbox, forgetting and the count of what is unknown; no longer what waited for the store.
BESIDE_CALLS = 5
AWAY = "it has not answered since the start: the wire is cut"


def code_of(envelope: Envelope | tuple[Any, ...]) -> ErrorCode | None:
    """Its error code."""
    assert isinstance(envelope, Envelope)
    return None if envelope.error is None else envelope.error.code


async def come_up(starting: "asyncio.Task[Any]", clock: ManualClock) -> None:
    """Let time pass until it has come up."""
    async with asyncio.timeout(5.0):
        while not starting.done():
            await asyncio.wait({starting, asyncio.ensure_future(clock.sleepers(1))}, return_when="FIRST_COMPLETED")
            if not starting.done():
                await clock.advance(0.2)


@asynccontextmanager
async def without_store(gateway: Rig, wires: Wires) -> AsyncIterator[tuple[Pipeline, ManualClock]]:
    """Another gateway that was started while nothing got through to the store."""
    # The transport reads the machine's clock, and this one goes ahead of it.
    clock = ManualClock(monotonic=time.monotonic(), wall=time.time())
    wires.it.loses = everything
    other = gateway.also(replace(gateway.parts, clock=clock))
    starting = asyncio.create_task(other.start())
    await come_up(starting, clock)
    await starting
    try:
        yield other, clock
    finally:
        await other._background.end()


async def opens(other: Pipeline, clock: ManualClock) -> None:
    """Let time pass until the store is used."""

    async def is_ready() -> bool:
        await clock.advance(0.2)
        return (await other.ready()).ready

    await eventually(is_ready)


async def test_a_store_that_stays_away_for_three_seconds_is_waited_for_beside_the_calls(rig: MakeRig) -> None:
    """Then whoever started it goes on, and readiness says what is missing."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    began = time.monotonic()
    async with without_store(gateway, wires) as (other, clock):
        assert 3.0 <= clock.monotonic() - began < 3.3 + (time.monotonic() - began)
        readiness = await other.ready()
        assert (readiness.ready, readiness.checks) == (False, {"store": AWAY})


async def test_reads_are_served_and_nothing_that_needs_a_record(rig: MakeRig) -> None:
    """A write is refused and nothing is sent, and so is every question about records, although the store would answer."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    async with without_store(gateway, wires) as (other, _):
        wires.it.loses = None
        call = ToolCall(tool="act", arguments={"order": "A", "amount": 5}, request_id="r")
        refused = [
            await gateway.call(at=other),
            await other.prepare(call, CALLER),
            await other.operation("x", CALLER),
            await other.reconcile("x", CALLER),
            await other.executions(ExecutionQuery(), CALLER),
        ]
        reading = await gateway.call(tool="get_status", at=other)

        assert {code_of(it) for it in refused} == {ErrorCode.STORE_UNAVAILABLE}
        assert reading.ok
        assert gateway.provider.sent == []


async def test_it_is_ready_as_soon_as_the_store_answers(rig: MakeRig) -> None:
    """Writes go out, and what runs beside calls runs."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    async with without_store(gateway, wires) as (other, clock):
        wires.it.loses = None
        await opens(other, clock)

        assert (await gateway.call(at=other)).ok
        await clock.sleepers(BESIDE_CALLS)


async def test_what_the_store_may_forget_is_told_where_it_is_opened_and_in_readiness(
    rig: MakeRig, caplog: pytest.LogCaptureFixture
) -> None:
    """Once in the log when it is first used, and for as long as it is so in readiness."""
    caplog.set_level(logging.WARNING, "oncegate")
    gateway = await rig(plain(), store=lambda _: MemoryOperationStore(SystemClock()), started=True)

    assert (await gateway.pipeline.ready()).warnings == MemoryOperationStore.caveats
    assert caplog.messages == list(MemoryOperationStore.caveats)


async def test_no_fault_on_the_way_leaves_the_store_unused_for_ever(rig: MakeRig) -> None:
    """It is told, and the store is asked again."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    faults = [KeyError("a fault of ours"), KeyError("and another")]

    def faulty(_: str, __: object) -> bool:
        if faults:
            raise faults.pop()
        return False

    async with without_store(gateway, wires) as (other, clock):
        wires.it.loses = faulty
        await opens(other, clock)
        assert (await gateway.call(at=other)).ok
    assert faults == []
    assert [fault.__notes__ for fault in gateway.faults] == [["opening"], ["opening"]]
    gateway.faults.clear()


async def test_a_store_that_must_not_be_used_ends_the_start(rig: MakeRig) -> None:
    """At once: waiting mends nothing."""
    gateway = await rig(plain(), wrap=Wires())
    parts = replace(gateway.parts, store=Unfit(gateway))
    with pytest.raises(StartRefusedError, match="evicts"):
        await gateway.also(parts).start()


async def test_a_manifest_that_would_lose_records_ends_the_start(rig: MakeRig) -> None:
    """The start fails with the sentence that says what to do."""
    gateway = await rig(keyed({"identity.fields": ["order"]}))
    await gateway.call()
    (gateway.manifests / "act.yaml").unlink()
    assert gateway.shelf.reload()
    rewrite(gateway, keyed({"identity.fields": ["order", "amount"]}))
    with pytest.raises(StartRefusedError, match="raise identity"):
        await gateway.also().start()


async def test_one_that_answers_later_and_must_not_be_used_stays_unused(
    rig: MakeRig, caplog: pytest.LogCaptureFixture
) -> None:
    """The reason is in readiness, and once in the log; when it is mended the gateway is ready without a restart."""
    gateway = await rig(plain(), wrap=Wires())
    clock = ManualClock()
    unfit = Unfit(gateway, "the wire is cut")
    opening = Opening(replace(gateway.parts, store=unfit, clock=clock), Pins(gateway.parts))
    beginning = asyncio.create_task(opening.begin())
    await come_up(beginning, clock)
    assert (beginning.result(), opening.missing) == (False, AWAY)
    later = asyncio.create_task(opening.later())
    unfit.away = None
    for _ in range(3):
        await clock.sleepers(1)
        await clock.advance(0.2)
    with pytest.raises(StoreUnavailableError, match="evicts"):
        opening.require()
    assert opening.missing == "it evicts"
    unfit.away = "mended"
    await clock.sleepers(1)
    await clock.advance(0.2)
    await later

    opening.require()
    assert [it.message for it in caplog.records if it.levelname == "ERROR"] == [
        "the store answers and is not used, writes are refused: it evicts"
    ]


class Unfit:
    """The store of a gateway: away for a reason, or, without one, there and not to be trusted."""

    def __init__(self, gateway: Rig, away: str | None = None) -> None:
        self._store = gateway.store
        self.away = away

    def __getattr__(self, name: str) -> Any:
        """The store's own."""
        return getattr(self._store, name)

    async def check(self) -> None:
        """Say what is wrong with it."""
        if self.away is None:
            raise StoreUnfitError("it evicts")
        if self.away != "mended":
            raise StoreUnavailableError(self.away)
