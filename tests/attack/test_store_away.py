"""The store goes away after an attempt whose outcome nobody knows."""

import asyncio
from typing import Any

import pytest

from gateway.contract.codes import CallOutcome
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Exchange, Reply, acts_then, answer, cut, late
from tests.gateway.pipeline.rig import keyed, looked_up, plain
from tests.gateway.pipeline.trouble import Wires, everything


@pytest.mark.parametrize("second", [answer(429), answer(400), answer(403)], ids=["429", "400", "403"])
async def test_a_refusal_of_the_second_attempt_is_no_word_about_the_first(rig: MakeRig, second: Reply) -> None:
    """First attempt acted and was lost; the second is refused while the store is away: the outcome is unknown."""
    wires = Wires()
    gateway = await rig(keyed({"retry.max_attempts": 2, "timeouts.read": "1s"}), wrap=wires)

    async def breaks(exchange: Exchange) -> None:
        wires.it.loses = everything
        await second(exchange)

    gateway.provider.writes += [acts_then(cut), breaks]
    envelope = await gateway.call()
    wires.it.loses = None
    assert len(gateway.provider.acts) == 1
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN, envelope.error


async def test_a_second_gate_without_a_store_is_no_word_about_the_first(rig: MakeRig) -> None:
    """The first attempt acted and was lost; the second's SENT mark cannot be written: the outcome is unknown."""
    wires = Wires()
    gateway = await rig(keyed({"retry.max_attempts": 2}), wrap=wires)
    second: list[int] = []

    def loses(_: str, given: tuple[Any, ...]) -> bool:
        after = getattr(given[0], "after", None) if given else None
        if after is not None and len(after.attempts) == 2:
            second.append(1)
        return bool(second)

    wires.it.loses = loses
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    wires.it.loses = None
    assert len(gateway.provider.acts) == 1
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN


async def test_a_waiter_without_a_store_is_not_told_not_executed(rig: MakeRig) -> None:
    """The operation is in flight in another process; the store goes away while this call waits for it."""
    wires = Wires()
    gateway = await rig(plain({"timeouts.read": "1s"}), wrap=wires)
    go = asyncio.Event()
    gateway.provider.writes += [late(go)]
    first = gateway.soon()
    await gateway.provider.until_sent(1)
    other = gateway.also()
    second = gateway.soon(at=other)
    await gateway.waiting(other)
    wires.it.loses = everything
    told = await second
    wires.it.loses = None
    go.set()
    await first
    assert told.error is not None
    assert told.error.outcome is not CallOutcome.NOT_EXECUTED


async def test_in_doubt_without_a_store(rig: MakeRig) -> None:
    """A call that met its record in doubt is not told not_executed when the store then goes away."""
    wires = Wires()
    gateway = await rig(looked_up({"reconcile.inline": "500ms"}), wrap=wires)
    gateway.provider.writes += [acts_then(cut)]
    gateway.provider.every_read = answer(200, {"items": [], "complete": True})
    await gateway.call()

    async def breaks(exchange: Exchange) -> None:
        wires.it.loses = everything
        await exchange.send(200, {"items": [{"id": "A-1", "key": None, "n": 5}], "complete": True})

    gateway.provider.every_read = breaks
    told = await gateway.call()
    wires.it.loses = None
    assert told.error is not None
    assert told.error.outcome is not CallOutcome.NOT_EXECUTED
