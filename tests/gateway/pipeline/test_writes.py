"""A write meets its record: what each thing that may stand there means for the call."""

import asyncio

import orjson
import pytest

from gateway.contract.call import Expect
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut, late, listing
from tests.gateway.pipeline.rig import keyed, looked_up, plain

NUMBERS = b'{"f": 1.50, "big": 9007199254740991, "e": "\xc3\xa9", "null": null, "list": [], "zero": 0}'


async def test_a_first_call_acts_once_and_is_recorded(rig: MakeRig) -> None:
    """It begins: one send, an answer, a settled record."""
    gateway = await rig(plain())
    envelope = await gateway.call()
    assert (envelope.ok, envelope.data) == (True, {"id": "A-1", "key": None, "n": 5})
    assert (envelope.meta.recorded, envelope.meta.replayed, envelope.meta.attempts) == (True, False, 1)
    record = await gateway.record()
    assert (record.state, record.settled_by, record.operation_id) == (State.DONE, "attempt", envelope.meta.operation_id)
    assert len(gateway.provider.acts) == 1


@pytest.mark.parametrize("body", [NUMBERS, b"0", b'""', b"[]", b"false", b"null"])
async def test_an_equal_call_gets_the_stored_answer(rig: MakeRig, body: bytes) -> None:
    """The same data byte for byte, falsy or not, said to be stored, with the date of the first answer; nothing is sent."""
    gateway = await rig(plain())
    gateway.provider.writes += [acts_then(answer(200, body))]
    first = await gateway.call()
    gateway.clock.ahead_s += 100
    again = await gateway.call(" a ")
    assert (first.ok, again.ok) == (True, True)
    assert orjson.dumps(again.data) == orjson.dumps(first.data)
    assert (again.meta.replayed, again.meta.attempts, again.meta.recorded) == (True, 0, True)
    assert again.meta.fetched_at == first.meta.fetched_at is not None
    assert again.meta.operation_id == first.meta.operation_id
    assert len(gateway.provider.sent) == 1


async def test_a_refusal_is_stored_too(rig: MakeRig) -> None:
    """The same refused call gets the stored refusal, without another attempt."""
    gateway = await rig(plain())
    gateway.provider.writes += [answer(422)]
    first, again = await gateway.call(), await gateway.call()
    assert first.error is not None
    assert again.error == first.error
    assert (first.error.code, first.error.outcome) == (ErrorCode.REJECTED, CallOutcome.NOT_EXECUTED)
    assert (again.meta.replayed, len(gateway.provider.sent)) == (True, 1)


async def test_a_refused_call_may_be_made_with_other_arguments(rig: MakeRig) -> None:
    """A refusal takes no identity: corrected arguments are the next occurrence, under another key."""
    gateway = await rig(keyed())
    gateway.provider.writes += [answer(402)]
    await gateway.call(amount=5)
    corrected = await gateway.call(amount=6)
    assert corrected.ok
    first, second = gateway.provider.sent
    assert first.key != second.key
    assert [r.occurrence for r in await gateway.records()] == [1, 2]


async def test_other_arguments_on_a_done_identity_are_a_conflict(rig: MakeRig) -> None:
    """The names of the differing arguments are told, nothing of the first call's values or result, and nothing is sent."""
    gateway = await rig(plain())
    gateway.provider.writes += [acts_then(answer(200, {"secret": "first's"}))]
    await gateway.call(amount=5)
    other = await gateway.call(amount=6, arguments={"urgent": True})
    assert other.error is not None
    assert (other.error.code, other.error.outcome) == (ErrorCode.IDEMPOTENCY_CONFLICT, CallOutcome.NOT_EXECUTED)
    assert other.error.details["differing"] == ["amount", "urgent"]
    assert other.error.details["state"] == "done"
    assert " was already carried out at 20" in other.error.message
    assert b"first's" not in orjson.dumps(other.to_dict())
    assert len(gateway.provider.sent) == 1


async def test_other_arguments_during_the_first_call_are_a_conflict_at_once(rig: MakeRig) -> None:
    """The second caller does not wait for the first one's end to learn that it differs."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon(amount=5)
    await gateway.provider.until_sent(1)
    other = await gateway.call(amount=6)
    assert other.error is not None
    assert (other.error.code, other.error.details["state"]) == (ErrorCode.IDEMPOTENCY_CONFLICT, "sent")
    assert other.error.details["differing"] == ["amount"]
    hold.set()
    assert (await first).ok
    assert len(gateway.provider.sent) == 1


async def test_an_immaterial_difference_gets_the_stored_answer_and_a_warning(rig: MakeRig) -> None:
    """Another note is not another operation; the warning names the argument and none of its text."""
    gateway = await rig(plain())
    await gateway.call(arguments={"note": "please"})
    again = await gateway.call(arguments={"note": "kindly"})
    assert (again.ok, again.meta.replayed) == (True, True)
    (warning,) = again.meta.warnings
    assert "note" in warning
    assert "kindly" not in warning
    assert "please" not in warning


async def test_a_second_caller_key_for_one_operation_is_a_warning(rig: MakeRig) -> None:
    """A caller's key never changes the operation of a tool with identity fields."""
    gateway = await rig(plain())
    await gateway.call(idempotency_key="one")
    same = await gateway.call(idempotency_key="one")
    other = await gateway.call(idempotency_key="two")
    assert (same.meta.warnings, other.meta.replayed) == ((), True)
    assert len(other.meta.warnings) == 1
    assert len(gateway.provider.sent) == 1


async def test_callers_of_one_operation_get_its_owners_answer(rig: MakeRig) -> None:
    """Those who come while it runs wait, and are told what the first is told."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    calls = [gateway.soon()]
    await gateway.provider.until_sent(1)
    calls += [gateway.soon() for _ in range(9)]
    await gateway.waiting(gateway.pipeline, 9)
    hold.set()
    envelopes = await asyncio.gather(*calls)
    assert {orjson.dumps(it.data) for it in envelopes} == {orjson.dumps({"id": "A-1", "key": None, "n": 5})}
    assert sorted(it.meta.replayed for it in envelopes) == [False] + [True] * 9
    assert len(gateway.provider.sent) == 1


async def test_callers_of_another_gateway_wait_for_the_record(rig: MakeRig) -> None:
    """What they cannot hear from its owner they see in the store."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon()
    await gateway.provider.until_sent(1)
    other = gateway.also()
    second = gateway.soon(at=other)
    await gateway.waiting(other)
    assert not second.done()
    hold.set()
    assert (await first).data == (await second).data
    assert (await second).meta.replayed
    assert len(gateway.provider.sent) == 1


async def test_waiters_are_bounded(rig: MakeRig) -> None:
    """The next one is told that the operation is in progress, and when to come back."""
    gateway = await rig(plain({"timeouts.read": "20s"}), settings={"waiters": 2})
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    seated = [gateway.soon()]
    await gateway.provider.until_sent(1)
    seated += [gateway.soon(), gateway.soon()]
    await gateway.waiting(gateway.pipeline, 2)
    turned_away = await gateway.call()
    assert turned_away.error is not None
    assert (turned_away.error.code, turned_away.error.retry_after_s) == (ErrorCode.IDEMPOTENCY_IN_PROGRESS, 1.0)
    hold.set()
    assert all(it.ok for it in await asyncio.gather(*seated))


async def test_a_waiter_whose_time_is_over_is_told_that_it_runs(rig: MakeRig) -> None:
    """Its own deadline ends its wait and nothing else."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon()
    await gateway.provider.until_sent(1)
    impatient = await gateway.call(deadline_ms=300)
    assert impatient.error is not None
    assert impatient.error.code == ErrorCode.IDEMPOTENCY_IN_PROGRESS
    hold.set()
    assert (await first).ok


async def test_waiters_share_an_owners_failure_to_send(rig: MakeRig) -> None:
    """A service that cannot be reached is one failure for all who wait, not one after the other."""
    gateway = await rig(plain({"retry.max_attempts": 1}))
    await gateway.provider.stop()
    with gateway.provider.unreachable():
        first = gateway.soon()
        await gateway.until(State.CLAIMED)
        others = [gateway.soon() for _ in range(3)]
        envelopes = await asyncio.gather(first, *others)
    assert [it.error.code if it.error else None for it in envelopes] == [ErrorCode.CONNECT_TIMEOUT] * 4
    assert (await gateway.record()).fence == 1


async def test_an_owners_deadline_is_its_own(rig: MakeRig) -> None:
    """The caller that waits behind it claims the operation and acts."""
    # One slot, taken by another order: the owner's time runs out before it is sent.
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "1s", "timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    blocker = gateway.soon("B")
    await gateway.provider.until_sent(1)
    hurried = gateway.soon("A", deadline_ms=350)
    await gateway.until(State.CLAIMED)
    patient = gateway.soon("A")
    gone = await hurried
    assert gone.error is not None
    assert gone.error.outcome is CallOutcome.NOT_EXECUTED
    hold.set()
    assert ((await blocker).ok, (await patient).ok, (await patient).meta.replayed) == (True, True, False)
    assert [it.order for it in gateway.provider.sent] == ["B", "A"]


async def test_an_unknown_outcome_is_looked_up_by_the_next_call(rig: MakeRig) -> None:
    """What the first call left in doubt, the second one settles from what the world shows; it sends nothing."""
    gateway = await rig(looked_up())
    gateway.provider.writes += [acts_then(cut)]
    gateway.provider.reads += [listing()]
    gateway.provider.every_read = answer(503)
    first = await gateway.call()
    assert first.error is not None
    assert (first.error.code, first.error.outcome) == (ErrorCode.OUTCOME_UNKNOWN, CallOutcome.UNKNOWN)
    gateway.provider.every_read = None
    second = await gateway.call()
    assert (second.ok, second.data) == (True, {"id": "A-1", "key": None, "n": 5})
    assert ((await gateway.record()).settled_by, len(gateway.provider.sent)) == ("lookup", 1)


async def test_an_unknown_outcome_is_asked_again_under_the_same_key(rig: MakeRig) -> None:
    """The stored bytes with the stored key: the provider gives its stored answer, and nothing is done twice."""
    gateway = await rig(keyed({"retry.max_attempts": 1}))
    gateway.provider.writes += [acts_then(cut)]
    first = await gateway.call(arguments={"note": "one"})
    assert first.error is not None
    assert first.error.outcome is CallOutcome.UNKNOWN
    second = await gateway.call(arguments={"note": "other"})
    assert second.ok
    one, other = gateway.provider.sent
    assert (one.key, one.body, one.target) == (other.key, other.body, other.target)
    assert one.key is not None
    assert len(gateway.provider.acts) == 1


async def test_an_unknown_outcome_without_means_stays_unknown(rig: MakeRig) -> None:
    """Nothing is sent again, however often it is called and however much time passes."""
    gateway = await rig(plain())
    gateway.provider.writes += [acts_then(cut)]
    await gateway.call()
    for _ in range(3):
        gateway.clock.ahead_s += 1_000_000
        again = await gateway.call()
        assert again.error is not None
        assert (again.error.code, again.error.outcome) == (ErrorCode.OUTCOME_UNKNOWN, CallOutcome.UNKNOWN)
        assert again.meta.attempts == 0
    assert len(gateway.provider.sent) == 1


async def test_contradicting_evidence_is_frozen(rig: MakeRig) -> None:
    """Two candidates that could be ours: a person must look, and no call acts on it any more."""
    gateway = await rig(looked_up())
    gateway.provider.writes += [cut]
    await gateway.call()
    gateway.provider.every_read = listing({"id": "x", "key": None, "n": 5}, {"id": "y", "key": None, "n": 5})
    first, second = await gateway.call(), await gateway.call()
    for envelope in (first, second):
        assert envelope.error is not None
        assert envelope.error.code == ErrorCode.OPERATION_FROZEN
    assert (await gateway.record()).state is State.FROZEN
    assert len(gateway.provider.sent) == 1


async def test_a_stale_intent_is_refused_whatever_stands_there(rig: MakeRig) -> None:
    """A call that was prepared as another operation executes nothing, and learns nothing of what is there."""
    gateway = await rig(plain())
    await gateway.call()
    stale = await gateway.call(expect=Expect(operation_key="another"))
    assert stale.error is not None
    assert (stale.error.code, stale.data) == (ErrorCode.INTENT_STALE, None)
    assert len(gateway.provider.sent) == 1
