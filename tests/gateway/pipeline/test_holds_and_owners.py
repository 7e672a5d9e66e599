"""What stands on the same order, or stood there: living holders, doubtful ones, dead owners, forgotten sends."""

import asyncio
from dataclasses import replace

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.stages.execute.operation.record import State
from gateway.stages.feedback.words import ELLIPSIS
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import cut, late, when
from tests.gateway.pipeline.rig import ALL, CALLER, keyed, looked_up, plain


async def test_a_living_holder_is_waited_for(rig: MakeRig) -> None:
    """Two tools that hold the same order act one after the other; another order is not affected."""
    gateway = await rig(plain({"timeouts.read": "20s"}), plain({"name": "other"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    second = gateway.soon("A", tool="other")
    elsewhere = await gateway.call("B", tool="other")
    assert elsewhere.ok
    assert not second.done()
    hold.set()
    assert ((await first).ok, (await second).ok) == (True, True)
    assert [it.order for it in gateway.provider.sent] == ["A", "B", "A"]


async def test_a_holder_in_doubt_blocks(rig: MakeRig) -> None:
    """The next write on the same order is told which operation is in doubt; another order is not affected."""
    gateway = await rig(plain(), plain({"name": "other"}))
    gateway.provider.writes += [cut]
    doubtful = await gateway.call("A")
    blocked = await gateway.call("A", tool="other")
    assert blocked.error is not None
    assert (blocked.error.code, blocked.error.outcome) == (ErrorCode.BLOCKED_BY_UNKNOWN, CallOutcome.NOT_EXECUTED)
    assert doubtful.meta.operation_id is not None
    assert doubtful.meta.operation_id in str(blocked.error.to_dict())
    assert (await gateway.call("B", tool="other")).ok
    assert [it.order for it in gateway.provider.sent] == ["A", "B"]


async def test_only_who_may_see_the_holder_is_told_how_to_look(rig: MakeRig) -> None:
    """The look-up has the values of another's call: for its own subject, and only with the tool's permission."""
    held = {"holds": {"order": "order"}, "reconcile.inline": "0ms"}
    gateway = await rig(looked_up(held), plain({"name": "other", "permission": "other:write"}))
    gateway.provider.writes += [cut]
    await gateway.call("A")
    may_both = replace(CALLER, permissions=ALL | {"other:write"})
    callers = (may_both, replace(may_both, subject="x"), replace(CALLER, permissions=frozenset({"other:write"})))
    mine, *others = [(await gateway.call("A", tool="other", caller=caller)).error for caller in callers]
    assert mine is not None
    assert mine.details["verify"] == {"tool": "get_status", "arguments": {"order": "A"}}
    for told in others:
        assert told is not None
        assert (told.code, "verify" in told.details) == (ErrorCode.BLOCKED_BY_UNKNOWN, False)


async def test_what_is_sensitive_in_the_holders_call_is_not_told(rig: MakeRig) -> None:
    """Whoever may look is told where, and not what another call had in its sensitive arguments."""
    arguments = {"order": "{args.order}", "kind": "{args.note}"}
    held = {"holds": {"order": "order"}, "reconcile.inline": "0ms", "reconcile.lookup.arguments": arguments}
    gateway = await rig(looked_up(held), plain({"name": "other"}))
    gateway.provider.writes += [cut]
    await gateway.call("A", arguments={"order": "A", "amount": 5, "note": "a secret"})
    told = (await gateway.call("A", tool="other")).error
    assert told is not None
    assert told.details["verify"] == {"tool": "get_status", "arguments": {"order": "A", "kind": ELLIPSIS}}


async def test_a_waiter_for_a_hold_ends_with_its_own_deadline(rig: MakeRig) -> None:
    """Nothing was sent for it, and it says so."""
    gateway = await rig(plain({"timeouts.read": "20s"}), plain({"name": "other"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    waiter = await gateway.call("A", tool="other", deadline_ms=300)
    assert waiter.error is not None
    assert waiter.error.code == ErrorCode.DEADLINE_BEFORE_SEND
    hold.set()
    assert (await first).ok
    assert len(gateway.provider.sent) == 1


async def test_a_dead_owner_that_sent_nothing_is_taken_over(rig: MakeRig) -> None:
    """Its claim passes to the next call; should it wake up, its gate lets nothing out and it tells what was done."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "1s", "timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    blocker = gateway.soon("B")
    await gateway.provider.until_sent(1)
    frozen = gateway.soon("A")
    await gateway.until(State.CLAIMED)
    gateway.clock.ahead_s += 1_000
    taken = await gateway.call("A", at=gateway.also())
    assert (taken.ok, taken.meta.replayed) == (True, False)
    hold.set()
    assert (await blocker).ok
    woken = await frozen
    assert (woken.ok, woken.data, woken.meta.replayed) == (True, taken.data, True)
    assert [it.order for it in gateway.provider.sent] == ["B", "A"]


async def test_a_dead_owner_that_may_have_sent_leaves_an_unknown_outcome(rig: MakeRig) -> None:
    """Never a takeover from SENT; what the owner hears after all is a fact about the world and settles it."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon()
    await gateway.provider.until_sent(1)
    gateway.clock.ahead_s += 1_000
    second = await gateway.call(at=gateway.also())
    assert second.error is not None
    assert second.error.outcome is CallOutcome.UNKNOWN
    assert (await gateway.record()).state is State.UNKNOWN
    hold.set()
    assert (await first).ok
    assert (await gateway.record()).state is State.DONE
    assert len(gateway.provider.sent) == 1


async def test_a_holder_whose_owner_died_is_in_doubt(rig: MakeRig) -> None:
    """A call on the same order sees the dead lease and is blocked, not let through."""
    over = asyncio.Event()
    gateway = await rig(plain({"timeouts.read": "20s"}), plain({"name": "other"}))
    gateway.provider.writes += [when(over, cut)]
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    gateway.clock.ahead_s += 1_000
    blocked = await gateway.call("A", tool="other", at=gateway.also())
    assert blocked.error is not None
    assert blocked.error.code == ErrorCode.BLOCKED_BY_UNKNOWN
    assert not first.done()
    over.set()
    await first
    assert len(gateway.provider.sent) == 1


@pytest.mark.parametrize("epoch", [None, "another"])
async def test_a_plain_write_that_the_store_may_have_forgotten_is_in_doubt(rig: MakeRig, epoch: str | None) -> None:
    """A second sending of a call that this store does not know, from another memory: nothing is sent."""
    gateway = await rig(plain())
    envelope = await gateway.call(attempt=2, store_epoch=epoch)
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN
    assert (await gateway.record()).state is State.UNKNOWN
    assert gateway.provider.sent == []


async def test_the_same_memory_cannot_have_forgotten(rig: MakeRig) -> None:
    """A second sending under this store's own epoch is executed: what it does not know did not happen."""
    gateway = await rig(plain())
    envelope = await gateway.call(attempt=2, store_epoch=gateway.store.epoch)
    assert (envelope.ok, len(gateway.provider.sent)) == (True, 1)


async def test_a_keyed_write_that_may_be_forgotten_is_sent_under_its_key(rig: MakeRig) -> None:
    """The key is the same as it was, so that the provider's memory takes the place of ours."""
    gateway = await rig(keyed())
    await gateway.call()
    empty = replace(gateway.parts, store=MemoryOperationStore(SystemClock()))
    again = await gateway.call(attempt=2, at=gateway.also(empty))
    assert (again.ok, again.data) == (True, {"id": "A-1", "key": gateway.provider.sent[0].key, "n": 5})
    one, two = gateway.provider.sent
    assert (one.key, len(gateway.provider.acts)) == (two.key, 1)


async def test_a_forgotten_write_is_looked_up_before_it_is_sent(rig: MakeRig) -> None:
    """What the world shows is believed: found by its key, it is the answer, and nothing is sent."""
    gateway = await rig(keyed({"reconcile": KEYED["reconcile"]}))
    await gateway.call()
    empty = replace(gateway.parts, store=MemoryOperationStore(SystemClock()))
    again = await gateway.call(attempt=2, at=gateway.also(empty))
    assert (again.ok, again.data["id"], again.meta.attempts) == (True, "A-1", 0)
    assert len(gateway.provider.sent) == 1
