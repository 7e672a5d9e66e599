"""The heartbeat: leases of what runs in this process."""

import asyncio

from gateway.contract.envelope import Envelope
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import late
from tests.gateway.pipeline.rig import Rig, plain
from tests.gateway.pipeline.trouble import Wires, everything
from tests.waiting import eventually

PATIENT = {"timeouts.read": "20s"}


async def running(gateway: Rig, hold: asyncio.Event) -> "asyncio.Task[Envelope]":
    """A write that waits for its answer."""
    gateway.provider.writes += [late(hold)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    return call


async def test_a_beat_extends_a_lease_that_has_grown_short(rig: MakeRig) -> None:
    """Not one that is fresh: a record is not written for nothing."""
    gateway = await rig(plain(PATIENT), settings={"lease_s": 30})
    hold = asyncio.Event()
    call = await running(gateway, hold)
    fresh = await gateway.record()
    await gateway.pipeline._pulse.beat()
    assert (await gateway.record()).version == fresh.version
    gateway.clock.ahead_s += 12
    await gateway.pipeline._pulse.beat()
    assert (await gateway.record()).lease_until >= fresh.lease_until + 11
    hold.set()
    await call


async def test_a_dead_lease_stays_dead(rig: MakeRig) -> None:
    """Somebody may have seen it; what the owner hears still counts."""
    gateway = await rig(plain(PATIENT), settings={"lease_s": 30})
    hold = asyncio.Event()
    call = await running(gateway, hold)
    gateway.clock.ahead_s += 31
    before = await gateway.record()
    await gateway.pipeline._pulse.beat()
    assert (await gateway.record()).lease_until == before.lease_until
    hold.set()
    await call
    assert (await gateway.record()).state is State.DONE


async def test_a_listener_keeps_its_lease(rig: MakeRig) -> None:
    """Its caller was answered, and its owner is alive: nobody takes it for dead."""
    gateway = await rig(plain({"timeouts.grace": "10s"}), settings={"lease_s": 30})
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    await gateway.call()
    listening = await gateway.record()
    gateway.clock.ahead_s += 12
    await gateway.pipeline._pulse.beat()
    extended = await gateway.record()
    assert (extended.state, extended.lease_until > listening.lease_until) == (State.LISTENING, True)
    hold.set()
    await gateway.until(State.DONE)


async def test_a_beat_that_fails_is_followed_by_the_next(rig: MakeRig) -> None:
    """The store was away for one beat; a lease survives two."""
    wires = Wires()
    gateway = await rig(plain(PATIENT), settings={"lease_s": 0.6}, wrap=wires, started=True)
    hold = asyncio.Event()
    call = await running(gateway, hold)
    wires.it.loses = everything
    before = wires.it.lost

    async def missed_one() -> bool:
        return wires.it.lost > before

    await eventually(missed_one)
    wires.it.loses = None
    first = (await gateway.record()).lease_until

    async def extended() -> bool:
        return (await gateway.record()).lease_until > first

    await eventually(extended)
    hold.set()
    await call


async def test_what_has_ended_is_not_extended(rig: MakeRig) -> None:
    """A settled record is left alone."""
    gateway = await rig(plain(), settings={"lease_s": 30})
    await gateway.call()
    settled = await gateway.record()
    gateway.clock.ahead_s += 12
    await gateway.pipeline._pulse.beat()
    assert await gateway.record() == settled
