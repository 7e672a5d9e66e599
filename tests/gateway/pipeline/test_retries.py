"""Another attempt: where it is safe, where it helps, and how many there are."""

import time

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import (
    act_once_and_for_all,
    acts_then,
    answer,
    cut,
    garbage,
)
from tests.gateway.pipeline.rig import keyed, plain
from tests.gateway.pipeline.watched import Spans


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
    assert time.monotonic() - started < 15
    assert len(gateway.provider.sent) == 1


async def test_a_retry_that_could_not_be_begun_is_not_waited_for(rig: MakeRig) -> None:
    """After the wait there must be `connect` and `min_send` left: each of them alone would fit."""
    gateway = await rig(plain({"timeouts.connect": "10s", "timeouts.min_send": "5s", "timeouts.total": "30s"}))
    gateway.provider.writes += [answer(429, Retry_After="10")]
    envelope = await gateway.call(deadline_ms=24_000)
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.retry_after_s) == (ErrorCode.RATE_LIMITED, 10.0)
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
