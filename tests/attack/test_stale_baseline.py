"""What a look-up may take for ours although it came from somebody else before our send."""

import asyncio
import time
from dataclasses import replace

from gateway.adapters.memory.breakers import MemoryBreakers
from gateway.stages.execute.breaker.guard import Guard
from tests.clocks import ManualClock
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, answer, cut, listing, when
from tests.gateway.pipeline.rig import looked_up, read

ONE = {"reconcile.inline": "0ms", "retry.max_attempts": 1}
HELD = {"holds": {"order": "order"}}


async def test_the_baseline_of_a_refused_attempt_is_too_old(rig: MakeRig) -> None:
    """After a 429 nothing of ours is in the world: what a person did before the next send is not ours."""
    gateway = await rig(looked_up(ONE))
    gateway.provider.every_read = listing()
    gateway.provider.writes += [answer(429), cut]
    assert not (await gateway.call()).ok
    gateway.provider.every_read = listing({"id": "manual", "key": None, "n": 5})
    doubtful = await gateway.call()
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "unknown"


async def test_another_tool_acts_between_two_tries(rig: MakeRig) -> None:
    """While a 429 is waited out the hold is free: what another tool on it did meanwhile is not ours."""
    patient = {"max_attempts": 2, "base": "300ms", "cap": "2s", "budget": 1.0}
    mine = looked_up({"reconcile.inline": "0ms", "breaker.scope": "one", "retry": patient, **HELD})
    gateway = await rig(mine, looked_up({"name": "act2", "breaker.scope": "two", **ONE, **HELD}))
    clock, chance = ManualClock(monotonic=time.monotonic()), gateway.parts.chance
    guard = Guard(MemoryBreakers(clock), draw=chance.draw, token=chance.token, changed=lambda *_: None)
    waits_it_out = gateway.also(replace(gateway.parts, clock=clock, guard=guard))
    gateway.provider.writes += [answer(429, None, Retry_After="1"), act, cut]
    first = gateway.soon(at=waits_it_out)
    await clock.sleepers(1)
    assert (await gateway.call(tool="act2")).ok
    await clock.advance(2)
    doubtful = await first
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "unknown"


async def test_another_tool_acts_between_baseline_and_send(rig: MakeRig) -> None:
    """The hold stands from the SENT mark only: what a tool of the same look-up did since the baseline is not ours."""
    go = asyncio.Event()
    two = (looked_up({**ONE, **HELD}), looked_up({"name": "act2", **ONE, **HELD}))
    gateway = await rig(*two, read({"timeouts.read": "1800ms"}))
    gateway.provider.reads += [when(go, listing())]
    gateway.provider.writes += [act, cut]
    first = gateway.soon()
    await gateway.provider.until_asked(1)
    assert (await gateway.call(tool="act2")).ok
    go.set()
    doubtful = await first
    assert (await gateway.reconcile(doubtful.meta.operation_id))["state"] == "unknown"
