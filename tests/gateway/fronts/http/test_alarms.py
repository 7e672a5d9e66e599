"""Alarms ring when they should, in order, and leave nothing behind when they need not."""

import asyncio

from gateway.fronts.http.alarms import Alarms


async def test_an_alarm_rings_when_its_time_has_come() -> None:
    """Not before, and it says so."""
    alarms, rung = Alarms(0.02), asyncio.Event()
    loop = asyncio.get_running_loop()
    began = loop.time()
    alarm = alarms.set(rung.set)
    assert not alarm.rung
    await asyncio.wait_for(rung.wait(), 5)
    assert loop.time() - began >= 0.02
    assert alarm.rung


async def test_a_cancelled_alarm_does_not_ring() -> None:
    """The one set after it does, and shows that its time has passed."""
    alarms, last, rung = Alarms(0.01), asyncio.Event(), list[str]()
    first = alarms.set(lambda: rung.append("first"))
    alarms.set(last.set)
    first.cancel()
    await asyncio.wait_for(last.wait(), 5)
    assert rung == []
    assert not first.rung


async def test_alarms_ring_in_the_order_of_their_setting() -> None:
    """One timer serves all of them."""
    alarms, last, rung = Alarms(0.01), asyncio.Event(), list[int]()
    for number in range(5):
        alarms.set(lambda number=number: rung.append(number))  # type: ignore[misc]
    alarms.set(last.set)
    await asyncio.wait_for(last.wait(), 5)
    assert rung == [0, 1, 2, 3, 4]


async def test_an_alarm_can_be_set_after_all_have_rung() -> None:
    """The timer is armed anew."""
    alarms = Alarms(0.005)
    for _ in range(3):
        rung = asyncio.Event()
        alarms.set(rung.set)
        await asyncio.wait_for(rung.wait(), 5)


async def test_cancelled_alarms_are_not_kept() -> None:
    """A thousand calls that end in time leave no thousand timers."""
    alarms = Alarms(60.0)
    for _ in range(1000):
        alarms.set(lambda: None).cancel()
    assert len(alarms) <= 1


async def test_an_alarm_that_rings_may_set_another() -> None:
    """Ringing is a call like any other."""
    alarms, again = Alarms(0.005), asyncio.Event()
    alarms.set(lambda: alarms.set(again.set))
    await asyncio.wait_for(again.wait(), 5)
