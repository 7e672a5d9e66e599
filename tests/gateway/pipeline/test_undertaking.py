"""One write from claim to end: when its caller is answered, when it is tried again, and what it listens for."""

import asyncio
import time

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.execution import RowKind
from gateway.stages.execute.operation.record import State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import (
    act_once_and_for_all,
    acts_then,
    answer,
    cut,
    garbage,
    late,
    listing,
    silence,
    when,
)
from tests.gateway.pipeline.rig import keyed, looked_up, plain
from tests.gateway.pipeline.watched import Spans

LOOKED_UP_BY_KEY = {"reconcile": KEYED["reconcile"], "reconcile.inline": "0ms"}


async def test_a_caller_is_answered_at_read_and_the_late_answer_settles(rig: MakeRig) -> None:
    """It is told *unknown* while the socket stays open; the answer that comes later settles the record, and is replayed."""
    gateway = await rig(plain())
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    started = time.monotonic()
    early = await gateway.call()
    assert 0.15 <= time.monotonic() - started < 1.8
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
    gateway = await rig(plain({"timeouts.total": "300ms", "timeouts.grace": "200ms"}))
    gateway.provider.writes += [silence]
    started = time.monotonic()
    await gateway.call()
    await gateway.until(State.UNKNOWN)
    assert 0.45 <= time.monotonic() - started < 2.5


async def test_a_longer_grace_listens_longer(rig: MakeRig) -> None:
    """What comes after `total` still settles while `grace` runs."""
    gateway = await rig(plain({"timeouts.total": "300ms", "timeouts.grace": "5s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    await gateway.call()
    await asyncio.sleep(0.4)
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
    assert (held_s >= 0.4) is (inline == "400ms")


async def test_a_plain_write_is_never_sent_again_after_bytes_may_have_left(rig: MakeRig) -> None:
    """One send, however it ended: cut, a server's failure, an unreadable reply."""
    gateway = await rig(plain({"retry.max_attempts": 4}))
    replies = [cut, answer(500), answer(503), answer(504), garbage(b"garbage\r\n\r\n")]
    for number, reply in enumerate(replies):
        gateway.provider.writes += [reply]
        envelope = await gateway.call(f"ORDER{number}")
        assert envelope.error is not None
        assert envelope.error.outcome is CallOutcome.UNKNOWN
        assert len(gateway.provider.sent) == number + 1


async def test_a_connection_that_fails_is_tried_again(rig: MakeRig) -> None:
    """Nothing was delivered: the same call tries again until somebody listens."""
    gateway = await rig(plain({"retry": {"max_attempts": 10, "base": "100ms", "cap": "100ms", "budget": 1.0}}))
    await gateway.provider.stop()
    call = gateway.soon()
    await gateway.until(State.CLAIMED)
    await gateway.provider.start()
    envelope = await call
    assert (envelope.ok, envelope.meta.attempts, len(gateway.provider.acts)) == (True, 1, 1)


async def test_attempts_are_bounded(rig: MakeRig) -> None:
    """`retry.max_attempts` counts the first one too."""
    gateway = await rig(plain({"retry.max_attempts": 3}))
    gateway.provider.writes += [answer(429)] * 5
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, len(gateway.provider.sent)) == (ErrorCode.RATE_LIMITED, 3)
    assert (await gateway.record()).state is State.FREE


async def test_a_plain_write_is_retried_after_a_retryable_refusal(rig: MakeRig) -> None:
    """429 proves that nothing was done: the same call sends again, and says how often it sent."""
    gateway = await rig(plain())
    gateway.provider.writes += [answer(429), answer(423)]
    envelope = await gateway.call()
    assert (envelope.ok, envelope.meta.attempts, len(gateway.provider.acts)) == (True, 3, 1)
    assert [a.knowledge for a in (await gateway.record()).attempts] == ["refused", "refused", "done"]


async def test_retry_after_is_honoured(rig: MakeRig) -> None:
    """The second attempt does not come before the asked time."""
    gateway = await rig(plain())
    gateway.provider.writes += [answer(429, Retry_After="1")]
    started = time.monotonic()
    envelope = await gateway.call()
    assert envelope.ok
    assert time.monotonic() - started >= 1.0


async def test_a_retry_after_that_does_not_fit_is_returned(rig: MakeRig) -> None:
    """The caller is told at once how long to wait; nobody sleeps past the deadline."""
    gateway = await rig(plain())
    gateway.provider.writes += [answer(429, Retry_After="60")]
    started = time.monotonic()
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.retry_after_s) == (ErrorCode.RATE_LIMITED, 60.0)
    assert time.monotonic() - started < 1.8
    assert len(gateway.provider.sent) == 1


async def test_the_retry_budget_bounds_retries(rig: MakeRig) -> None:
    """A service that refuses everything gets a share beyond first attempts, after a reserve of ten."""
    gateway = await rig(plain({"retry.budget": 0.1, "retry.max_attempts": 10}))
    gateway.provider.writes += [answer(429)] * 200
    for number in range(20):
        await gateway.call(f"ORDER{number}")
    assert 20 + 10 <= len(gateway.provider.sent) <= 20 + 10 + 2


async def test_a_budget_of_nothing_has_no_retries(rig: MakeRig) -> None:
    """Not even the reserve."""
    gateway = await rig(plain({"retry.budget": 0.0}))
    gateway.provider.writes += [answer(429)] * 4
    await gateway.call()
    assert len(gateway.provider.sent) == 1


async def test_pauses_are_drawn_below_base_and_cap(rig: MakeRig) -> None:
    """`retry.base` bounds the first one and is doubled each time; no pause is longer than `retry.cap`."""
    spans = Spans()
    policy = {"max_attempts": 8, "base": "20ms", "cap": "40ms", "budget": 1.0}
    gateway = await rig(plain({"retry": policy}), telemetry=spans.telemetry)
    gateway.provider.writes += [answer(429)] * 7
    assert (await gateway.call()).ok
    first, *retries = spans.attributes("POST")
    assert "oncegate.retry.delay" not in first
    pauses_s = [it["oncegate.retry.delay"] for it in retries]
    assert pauses_s[0] <= 0.02
    # Unbounded, seven doublings would hardly stay below it by chance.
    assert max(pauses_s) <= 0.04
    assert len(set(pauses_s)) == 7


async def test_a_keyed_unknown_is_sent_again_within_the_call(rig: MakeRig) -> None:
    """Same key, same bytes: whether the first was carried out or not, it is once."""
    gateway = await rig(keyed())
    gateway.provider.writes += [acts_then(cut), cut]
    envelope = await gateway.call()
    assert (envelope.ok, envelope.meta.attempts, len(gateway.provider.acts)) == (True, 3, 1)
    assert len({(it.key, it.body) for it in gateway.provider.sent}) == 1
    record = await gateway.record()
    assert (record.state, [a.knowledge for a in record.attempts]) == (State.DONE, ["unknown", "unknown", "done"])


async def test_a_refusal_after_an_unknown_attempt_does_not_speak_for_it(rig: MakeRig) -> None:
    """The join: while one attempt is unknown the operation is unknown, whatever the last one was told."""
    gateway = await rig(keyed())
    gateway.provider.writes += [acts_then(cut), answer(422)]
    envelope = await gateway.call()
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN
    assert (await gateway.record()).state is State.UNKNOWN


async def test_a_failure_to_connect_after_an_unknown_attempt_does_not_speak_for_it(rig: MakeRig) -> None:
    """The second attempt was proved not sent; the first one is still in doubt, and so is the operation."""
    gateway = await rig(keyed({"retry.max_attempts": 2, "backend.http.fresh_connection": True}))
    gateway.provider.writes += [act_once_and_for_all]
    envelope = await gateway.call()
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN
    assert (await gateway.record()).state is State.UNKNOWN


async def test_a_baseline_that_cannot_be_read_stops_the_send(rig: MakeRig) -> None:
    """Without it, what was there before could later be taken for ours: nothing is sent."""
    gateway = await rig(looked_up({"retry.max_attempts": 1}))
    gateway.provider.every_read = answer(503)
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, gateway.provider.sent) == (CallOutcome.NOT_EXECUTED, [])
    assert (await gateway.record()).state is State.FREE


async def test_an_answer_beside_the_deadline_is_no_later_than_it(rig: MakeRig) -> None:
    """The caller's own deadline ends its wait when it comes before `read`."""
    gateway = await rig(plain({"timeouts.read": "2s"}))
    gateway.provider.writes += [silence]
    started = time.monotonic()
    envelope = await gateway.call(deadline_ms=400)
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    assert 0.3 < time.monotonic() - started < 1.6
