"""One write from claim to end: when its caller is answered, when it is tried again, and what it listens for."""

import asyncio
import gc
import time

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.execution import RowKind
from gateway.pipeline.effort import Effort
from gateway.pipeline.undertaking import Undertaking
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import (
    acts_then,
    answer,
    cut,
    late,
    listing,
    silence,
    when,
)
from tests.gateway.pipeline.rig import ending, keyed, looked_up, plain, read
from tests.waiting import turns

LOOKED_UP_BY_KEY = {"reconcile": KEYED["reconcile"], "reconcile.inline": "0ms"}


async def test_a_caller_is_answered_at_read_and_the_late_answer_settles(rig: MakeRig) -> None:
    """It is told *unknown* while the socket stays open; the answer that comes later settles the record, and is replayed."""
    gateway = await rig(plain())
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    started = time.monotonic()
    early = await gateway.call()
    assert 0.15 <= time.monotonic() - started < 15
    assert early.error is not None
    assert (early.error.code, early.error.outcome) == (ErrorCode.TIMEOUT_UNKNOWN_OUTCOME, CallOutcome.UNKNOWN)
    assert (early.meta.attempts, early.meta.recorded) == (1, True)
    assert (await gateway.record()).state is State.LISTENING
    hold.set()
    settled = await gateway.until(State.DONE)
    assert settled.settled_by == "late_answer"
    again = await gateway.call()
    assert (again.ok, again.meta.replayed, again.data) == (True, True, {"id": "A-1", "key": None, "n": 5})
    kinds = [(row.kind, row.outcome, row.settled_by) for row in await gateway.rows()]
    assert kinds == [
        (RowKind.CALL, "unknown", None),
        (RowKind.SETTLEMENT, "ok", "late_answer"),
        (RowKind.CALL, "ok", None),
    ]
    assert len(gateway.provider.sent) == 1


async def test_a_late_refusal_settles_as_well(rig: MakeRig) -> None:
    """Nothing was done, and the next equal call is told the stored refusal."""
    gateway = await rig(plain())
    hold = asyncio.Event()
    gateway.provider.writes += [when(hold, answer(422))]
    await gateway.call()
    hold.set()
    settled = await gateway.until(State.REFUSED)
    assert (settled.settled_by, settled.standing_holds()) == ("late_answer", ())
    again = await gateway.call()
    assert again.error is not None
    assert (again.error.code, again.meta.replayed) == (ErrorCode.REJECTED, True)


async def test_a_late_retryable_refusal_frees_the_operation(rig: MakeRig) -> None:
    """Nothing of it is in the world: the next call acts, under the same key."""
    gateway = await rig(keyed({"reconcile": KEYED["reconcile"], "reconcile.inline": "0ms"}))
    hold = asyncio.Event()
    gateway.provider.writes += [when(hold, answer(429))]
    await gateway.call()
    hold.set()
    await gateway.until(State.FREE)
    again = await gateway.call()
    assert (again.ok, again.meta.replayed) == (True, False)
    assert len({it.key for it in gateway.provider.sent}) == 1
    assert [row.kind for row in await gateway.rows()] == [RowKind.CALL, RowKind.SETTLEMENT, RowKind.CALL]


async def test_listening_that_hears_nothing_leaves_it_unknown(rig: MakeRig) -> None:
    """A connection that closes proves nothing; the hold stays, and no row says that anything was learned."""
    gateway = await rig(plain())
    hold = asyncio.Event()
    gateway.provider.writes += [when(hold, cut)]
    await gateway.call()
    hold.set()
    closed = await gateway.until(State.UNKNOWN)
    assert closed.standing_holds() != ()
    assert [row.kind for row in await gateway.rows()] == [RowKind.CALL]


async def test_listening_ends_at_total_and_grace(rig: MakeRig) -> None:
    """The provider sees the connection go away then, and not before."""
    gateway = await rig(plain(ending("1500ms", "500ms")))
    gateway.provider.writes += [silence]
    started = time.monotonic()
    await gateway.call()
    await gateway.until(State.UNKNOWN)
    assert 1.95 <= time.monotonic() - started < 15


async def test_a_longer_grace_listens_longer(rig: MakeRig) -> None:
    """What comes after `total` still settles while `grace` runs: here the caller is answered when `total` is over."""
    gateway = await rig(plain({**ending("1500ms", "30s"), "timeouts.read": "1500ms"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    started = time.monotonic()
    await gateway.call()
    assert time.monotonic() - started >= 1.5
    assert (await gateway.record()).state is State.LISTENING
    hold.set()
    await gateway.until(State.DONE)


async def test_a_held_caller_gets_what_a_look_up_proves(rig: MakeRig) -> None:
    """After `read` the caller is held for `reconcile.inline`; one match is the answer, and listening ends."""
    gateway = await rig(looked_up({"reconcile.inline": "2s"}))
    gateway.provider.writes += [acts_then(silence)]
    envelope = await gateway.call()
    assert (envelope.ok, envelope.data) == (True, {"id": "A-1", "key": None, "n": 5})
    assert (envelope.meta.replayed, envelope.meta.attempts) == (False, 1)
    assert (await gateway.record()).settled_by == "lookup"
    assert [row.kind for row in await gateway.rows()] == [RowKind.SETTLEMENT, RowKind.CALL]


async def test_a_held_caller_still_hears_the_answer(rig: MakeRig) -> None:
    """While look-ups find nothing, the tool's own answer ends the wait."""
    gateway = await rig(looked_up({"reconcile.inline": "2s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    gateway.provider.every_read = listing()
    call = gateway.soon()
    await gateway.provider.until_asked(2)
    hold.set()
    envelope = await call
    assert (envelope.ok, (await gateway.record()).settled_by) == (True, "attempt")
    assert [row.kind for row in await gateway.rows()] == [RowKind.CALL]


@pytest.mark.parametrize(("inline", "looks"), [("0ms", 1), ("400ms", 2)])
async def test_inline_says_how_long_a_caller_is_held(rig: MakeRig, inline: str, looks: int) -> None:
    """Nothing at all: no look-up but the baseline. A while: at least one, and then *unknown*."""
    gateway = await rig(looked_up({"reconcile.inline": inline}))
    gateway.provider.writes += [silence]
    gateway.provider.every_read = listing()
    started = time.monotonic()
    envelope = await gateway.call()
    held_s = time.monotonic() - started - 0.15
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    assert len(gateway.provider.asked) == looks
    assert held_s >= 0.4 or inline == "0ms"


async def test_a_baseline_that_cannot_be_read_stops_the_send(rig: MakeRig) -> None:
    """Without it, what was there before could later be taken for ours: nothing is sent; the tries are counted."""
    gateway = await rig(
        looked_up({"retry.max_attempts": 3, "breaker.consecutive": 100}), read({"breaker.consecutive": 100})
    )
    gateway.provider.every_read = answer(503)
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, gateway.provider.sent) == (CallOutcome.NOT_EXECUTED, [])
    assert len(gateway.provider.asked) == 3
    assert (await gateway.record()).state is State.FREE


async def test_an_answer_beside_the_deadline_is_no_later_than_it(rig: MakeRig) -> None:
    """The caller's own deadline ends its wait when it comes before `read`."""
    gateway = await rig(plain({"timeouts.read": "15s"}))
    gateway.provider.writes += [silence]
    started = time.monotonic()
    envelope = await gateway.call(deadline_ms=400)
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    assert 0.3 < time.monotonic() - started < 10


async def test_a_write_leaves_nothing_for_the_garbage_collector(rig: MakeRig) -> None:
    """With the last reference to it an undertaking is gone, and its effort with all that it holds."""
    gateway = await rig(plain())
    gateway.provider.writes += [answer(200), answer(200)]
    await gateway.call()
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(it, Undertaking | Effort) for it in gc.get_objects())
        await gateway.call(order="A-2")
        await turns()
        after = sum(isinstance(it, Undertaking | Effort) for it in gc.get_objects())
    finally:
        gc.enable()

    assert after == before == 0
