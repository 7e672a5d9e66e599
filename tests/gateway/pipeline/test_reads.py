"""A read: no record and no key, tried again while that can help, given up when its caller goes."""

import asyncio
import time

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import Reply, answer, cut, drip, garbage, listing, silence, when
from tests.gateway.pipeline.rig import plain, read
from tests.waiting import PATIENCE_S


async def test_a_read_leaves_no_record(rig: MakeRig) -> None:
    """Its answer has data and its source, its row, and nothing else."""
    gateway = await rig(read())
    envelope = await gateway.call(tool="get_status")
    assert (envelope.ok, envelope.data) == (True, {"items": [], "complete": True})
    assert (envelope.meta.recorded, envelope.meta.operation_id, envelope.meta.attempts) == (False, None, 1)
    assert (await gateway.records(), [row.effect for row in await gateway.rows(1)]) == ([], ["read"])


@pytest.mark.parametrize(
    "failure",
    [cut, answer(500), answer(502), answer(503), answer(429), silence, garbage(b"?\r\n\r\n")],
    ids=["cut", "500", "502", "503", "429", "silence", "garbage"],
)
async def test_transient_failures_are_tried_again(rig: MakeRig, failure: Reply) -> None:
    """Whatever it was, it changed nothing."""
    gateway = await rig(read())
    gateway.provider.reads += [failure]
    envelope = await gateway.call(tool="get_status")
    assert (envelope.ok, envelope.meta.attempts, len(gateway.provider.asked)) == (True, 2, 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_refusals_are_final(rig: MakeRig, status: int) -> None:
    """The same question would get the same answer."""
    gateway = await rig(read())
    gateway.provider.reads += [answer(status)]
    envelope = await gateway.call(tool="get_status")
    assert envelope.error is not None
    assert (envelope.error.outcome, len(gateway.provider.asked)) == (CallOutcome.NOT_EXECUTED, 1)


async def test_a_read_that_proves_nothing_has_failed(rig: MakeRig) -> None:
    """It is never *unknown*: nothing was changed, and it may be asked again."""
    gateway = await rig(read({"retry.max_attempts": 3}))
    gateway.provider.every_read = silence
    started = time.monotonic()
    envelope = await gateway.call(tool="get_status")
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.DOWNSTREAM_TIMEOUT, CallOutcome.NOT_EXECUTED)
    assert (envelope.error.retryable, len(gateway.provider.asked)) == (True, 3)
    # `timeouts.read` for each attempt.
    assert 0.45 <= time.monotonic() - started < 15


async def test_the_retry_budget_bounds_retries(rig: MakeRig) -> None:
    """A service that fails always gets a share beyond first attempts, after a reserve of ten."""
    gateway = await rig(read({"retry.budget": 0.1, "retry.max_attempts": 10, "breaker.consecutive": 1_000}))
    gateway.provider.every_read = answer(429)
    for _ in range(20):
        await gateway.call(tool="get_status")
    assert 20 + 10 <= len(gateway.provider.asked) <= 20 + 10 + 2


async def test_a_retry_that_could_hardly_be_answered_is_not_waited_for(rig: MakeRig) -> None:
    """After the wait there must be a quarter of a second left, the usual `timeouts.min_send`."""
    gateway = await rig(read())
    gateway.provider.reads += [answer(429, Retry_After="10")]
    envelope = await gateway.call(tool="get_status", deadline_ms=10_100)
    assert envelope.error is not None
    assert (envelope.error.code, len(gateway.provider.asked)) == (ErrorCode.RATE_LIMITED, 1)


async def test_total_ends_it(rig: MakeRig) -> None:
    """An answer that drips outlives every single wait, and not `timeouts.total`."""
    gateway = await rig(
        read({"timeouts": {"total": "1500ms", "read": "1s", "connect": "1s", "write": "1s", "pool": "1s"}})
    )
    gateway.provider.every_read = drip
    started = time.monotonic()
    envelope = await gateway.call(tool="get_status")
    assert envelope.error is not None
    assert 1.4 <= time.monotonic() - started < 15
    assert len(gateway.provider.asked) == 1


async def test_a_callers_deadline_ends_it(rig: MakeRig) -> None:
    """Sooner than the tool's own times."""
    gateway = await rig(read({"timeouts.read": "20s"}))
    gateway.provider.every_read = silence
    started = time.monotonic()
    envelope = await gateway.call(tool="get_status", deadline_ms=80)
    assert not envelope.ok
    assert 0.07 <= time.monotonic() - started < 15


async def test_a_deadline_of_nothing_asks_nothing(rig: MakeRig) -> None:
    """There is no time for an attempt."""
    gateway = await rig(read())
    envelope = await gateway.call(tool="get_status", deadline_ms=0)
    assert envelope.error is not None
    assert (envelope.error.code, gateway.provider.asked) == (ErrorCode.DEADLINE_BEFORE_SEND, [])


async def test_a_read_is_given_up_with_its_caller(rig: MakeRig) -> None:
    """The connection closes, the slot is free again, and the breaker has learned nothing."""
    gateway = await rig(read({"limits.concurrency": 1, "timeouts.read": "20s", "breaker.consecutive": 1}))
    gone = asyncio.Event()

    async def until_gone(exchange) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        await exchange.hung_up()
        gone.set()

    gateway.provider.reads += [until_gone]
    call = gateway.soon(tool="get_status")
    await gateway.provider.until_asked(1)
    call.cancel()
    async with asyncio.timeout(PATIENCE_S):
        await gone.wait()
    assert (await gateway.call(tool="get_status")).ok
    assert [view.state for view in gateway.pipeline.breakers()] in ([], ["closed"])


async def test_a_full_bulkhead_refuses_reads_too(rig: MakeRig) -> None:
    """`limits.concurrency` and `timeouts.pool` hold for them."""
    gateway = await rig(read({"limits.concurrency": 1, "timeouts.pool": "50ms", "timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.reads += [when(hold, listing())]
    first = gateway.soon(tool="get_status")
    await gateway.provider.until_asked(1)
    refused = await gateway.call(tool="get_status")
    assert refused.error is not None
    assert refused.error.code == ErrorCode.GATEWAY_SATURATED
    hold.set()
    assert (await first).ok


async def test_a_rate_bounds_reads_too(rig: MakeRig) -> None:
    """`limits.rate` holds for them."""
    gateway = await rig(read({"limits.rate": "1/h"}))
    assert (await gateway.call(tool="get_status")).ok
    refused = await gateway.call(tool="get_status")
    assert refused.error is not None
    assert (refused.error.code, len(gateway.provider.asked)) == (ErrorCode.RATE_LIMITED, 1)
    assert [row.code for row in await gateway.rows(2)] == [None, "rate_limited"]


async def test_an_open_breaker_refuses_reads_too(rig: MakeRig) -> None:
    """Nothing is asked of a service that is left alone."""
    gateway = await rig(read({"breaker": {"consecutive": 1, "open": "1h"}, "retry.max_attempts": 1}))
    gateway.provider.reads += [answer(503)]
    await gateway.call(tool="get_status")
    refused = await gateway.call(tool="get_status")
    assert refused.error is not None
    assert (refused.error.code, len(gateway.provider.asked)) == (ErrorCode.CIRCUIT_OPEN, 1)


async def test_a_breaker_that_opens_between_attempts_ends_the_retries(rig: MakeRig) -> None:
    """The caller is told what the service answered last, and not that it is left alone now."""
    gateway = await rig(read({"breaker": {"consecutive": 2, "open": "1h"}, "retry.max_attempts": 8}))
    gateway.provider.every_read = answer(500)
    envelope = await gateway.call(tool="get_status")
    assert envelope.error is not None
    assert (envelope.error.code, len(gateway.provider.asked)) == (ErrorCode.UNAVAILABLE, 2)


async def test_waits_of_read_open_the_breaker(rig: MakeRig) -> None:
    """No caller was in a hurry: the service was silent for `timeouts.read`."""
    gateway = await rig(read({"breaker": {"consecutive": 1, "open": "1h"}, "retry.max_attempts": 1}))
    gateway.provider.every_read = silence
    await gateway.call(tool="get_status")
    assert [view.state for view in gateway.pipeline.breakers()] == ["open"]


async def test_a_larger_limit_lets_more_through(rig: MakeRig) -> None:
    """`limits.result_bytes` above its usual value."""
    gateway = await rig(read({"limits.result_bytes": "256KiB"}))
    gateway.provider.reads += [answer(200, {"status": "x" * 100_000})]
    assert (await gateway.call(tool="get_status")).ok


async def test_a_read_larger_than_the_limit_is_cut_off(rig: MakeRig) -> None:
    """`limits.result_bytes`."""
    gateway = await rig(read({"limits.result_bytes": "1KiB", "retry.max_attempts": 1}))
    gateway.provider.reads += [answer(200, {"status": "x" * 2_000})]
    envelope = await gateway.call(tool="get_status")
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.RESULT_TOO_LARGE


async def test_a_draining_gateway_serves_reads(rig: MakeRig) -> None:
    """They guard nothing and end soon."""
    gateway = await rig(plain())
    await gateway.pipeline.drain(0.1)
    assert (await gateway.call(tool="get_status")).ok


async def test_a_value_that_cannot_stand_in_the_request_is_refused(rig: MakeRig) -> None:
    """A path that it would climb out of is never asked for."""
    gateway = await rig(read())
    envelope = await gateway.call("..", tool="get_status")
    assert envelope.error is not None
    assert (envelope.error.outcome, gateway.provider.requests) == (CallOutcome.NOT_EXECUTED, [])


async def test_a_read_larger_than_the_limit_is_not_sent(rig: MakeRig) -> None:
    """`limits.request_bytes` bounds what a read asks with, too."""
    gateway = await rig(read({"limits.request_bytes": "100B"}))
    envelope = await gateway.call("A" * 100, tool="get_status")
    assert envelope.error is not None
    assert (envelope.error.code, gateway.provider.asked) == (ErrorCode.BODY_TOO_LARGE, [])
