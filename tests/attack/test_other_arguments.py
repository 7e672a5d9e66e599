"""A freed record is claimed with other arguments, and then the first send proves to have acted after all."""

import asyncio

from gateway.contract.call import Caller
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.requests import SettledAs, SettleRequest
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import answer, late
from tests.gateway.pipeline.rig import Rig, plain

SETTLER = Caller(subject="lead", tenant="acme", permissions=frozenset({"operations:settle"}))
NOT_DONE = SettleRequest(settled_as=SettledAs.NOT_EXECUTED, evidence="looked, nothing there")


async def _freed_too_early(gateway: Rig) -> asyncio.Event:
    """A call for 5 has acted and not answered; its owner was taken for dead and a person freed the record."""
    says = asyncio.Event()
    gateway.provider.writes += [late(says)]
    first = await gateway.call(amount=5)
    assert first.error is not None
    assert first.error.outcome is CallOutcome.UNKNOWN
    gateway.clock.ahead_s += 100
    await gateway.call(amount=5)
    settled = await gateway.pipeline.settle((await gateway.record()).operation_id, NOT_DONE, SETTLER)
    assert settled.data["state"] == "free"
    return says


async def test_a_late_result_is_told_to_the_call_that_it_is_of(rig: MakeRig) -> None:
    """The call for 4 waits out a 429 when the result of 5 comes: it is no result of its own, and 5 was done."""
    gateway = await rig(plain({"retry.max_attempts": 2}))
    says = await _freed_too_early(gateway)
    gateway.provider.writes += [answer(429, Retry_After="1")]
    second = gateway.soon(amount=4)
    await gateway.provider.until_sent(2)
    await gateway.until(State.CLAIMED)
    says.set()
    done = await gateway.until(State.DONE)

    assert (done.bodies.arguments["amount"], done.origin.tool) == (5, "act")
    told = (await second).error
    assert told is not None
    assert (told.code, told.outcome) == (ErrorCode.IDEMPOTENCY_CONFLICT, CallOutcome.NOT_EXECUTED)
    again = await gateway.call(amount=5)
    assert (again.ok, again.data["n"], again.meta.replayed) == (True, 5, True)
    assert [it["n"] for it in gateway.provider.acts] == [5]


async def test_a_late_result_beside_the_other_calls_own_is_for_a_person(rig: MakeRig) -> None:
    """Both acted: neither call is told that nothing of it was executed, nor the other's result."""
    gateway = await rig(plain())
    says = await _freed_too_early(gateway)
    assert (await gateway.call(amount=4)).ok
    says.set()
    await gateway.until(State.FROZEN)

    for amount in (4, 5):
        told = (await gateway.call(amount=amount)).error
        assert told is not None
        assert told.outcome is CallOutcome.UNKNOWN
    third = (await gateway.call(amount=3)).error
    assert third is not None
    assert len(gateway.provider.acts) == 2
