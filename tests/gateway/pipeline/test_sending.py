"""The doors before an attempt, and what goes out with it: breaker, throttle, bulkhead, deadline and trace headers."""

import asyncio
import time

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, answer, cut, late, silence, when
from tests.gateway.pipeline.rig import Rig, eventually, keyed, plain, read
from tests.gateway.pipeline.watched import Spans

QUICK_BREAKER = {"breaker": {"consecutive": 2, "open": "1h", "window": "1h"}, "retry.max_attempts": 1}


def code_of(envelope: Envelope) -> ErrorCode | None:
    """Its error code."""
    return None if envelope.error is None else envelope.error.code


async def break_it(gateway: Rig, failures: int = 2) -> None:
    """Let the dependency fail this often."""
    gateway.provider.writes += [answer(500)] * failures
    for number in range(failures):
        await gateway.call(f"BROKEN{number}")


async def test_an_open_breaker_sends_nothing(rig: MakeRig) -> None:
    """`breaker.consecutive` failures open it; the refusal has a wait, makes no record and is the caller's to act on."""
    gateway = await rig(plain(QUICK_BREAKER))
    await break_it(gateway)
    envelope = await gateway.call()
    assert code_of(envelope) == ErrorCode.CIRCUIT_OPEN
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.NOT_EXECUTED
    assert envelope.error.retry_after_s is not None
    assert 0 < envelope.error.retry_after_s <= 3_600 * 1.2
    assert len(gateway.provider.sent) == 2
    assert [r.bodies.arguments["order"] for r in await gateway.records() if r.state is not State.FREE] == [
        "BROKEN0",
        "BROKEN1",
    ]
    (view,) = gateway.pipeline.breakers()
    assert (view.state, view.failures) == ("open", 2)


async def test_tools_of_one_scope_share_the_breaker(rig: MakeRig) -> None:
    """`breaker.scope` says what fails as one; another scope is not affected."""
    shared = {**QUICK_BREAKER["breaker"], "scope": "payments"}  # type: ignore[dict-item]
    alone = {**shared, "scope": "mail"}
    gateway = await rig(
        plain({"breaker": shared, "retry.max_attempts": 1}),
        plain({"name": "other", "breaker": shared}),
        plain({"name": "mail", "breaker": alone}),
    )
    await break_it(gateway)
    assert code_of(await gateway.call(tool="other")) == ErrorCode.CIRCUIT_OPEN
    mailed = await gateway.call(tool="mail")
    assert (mailed.ok, mailed.meta.source) == (True, "mail")


async def test_a_failure_rate_opens_it_too(rig: MakeRig) -> None:
    """Every other call fails, never two in a row: the share over `min_calls` calls opens it."""
    policy = {"consecutive": 50, "failure_rate": 0.5, "min_calls": 4, "window": "1h", "open": "1h"}
    gateway = await rig(plain({"breaker": policy, "retry.max_attempts": 1}))
    gateway.provider.writes += [act, answer(500), act, answer(500)]
    for number in range(4):
        await gateway.call(f"ORDER{number}")
    assert code_of(await gateway.call()) == ErrorCode.CIRCUIT_OPEN


@pytest.mark.parametrize("kept", [{"failure_rate": 0.9}, {"min_calls": 50}, {"window": "1ms"}])
async def test_rate_calls_and_window_say_when(rig: MakeRig, kept: dict[str, object]) -> None:
    """A higher share, more calls, or a window that forgets: it stays closed."""
    policy = {"consecutive": 50, "failure_rate": 0.5, "min_calls": 4, "window": "1h", "open": "1h", **kept}
    gateway = await rig(plain({"breaker": policy, "retry.max_attempts": 1}))
    gateway.provider.writes += [act, answer(500), act, answer(500)]
    for number in range(4):
        await gateway.call(f"ORDER{number}")
    assert (await gateway.call()).ok


async def test_refusals_are_health(rig: MakeRig) -> None:
    """A service that says no is not down."""
    gateway = await rig(plain(QUICK_BREAKER))
    gateway.provider.writes += [answer(422), answer(404), answer(422)]
    for number in range(3):
        await gateway.call(f"ORDER{number}")
    assert (await gateway.call()).ok


async def test_a_callers_impatience_is_not_the_services_fault(rig: MakeRig) -> None:
    """Deadlines shorter than `timeouts.read` open no breaker, for a write as for a read; waits of `read` do."""
    policy = {"breaker": {"consecutive": 1, "open": "1h", "scope": "one"}, "retry.max_attempts": 1}
    times = {"timeouts.read": "500ms"}
    gateway = await rig(plain({**policy, **times}), read({**policy, **times}))
    gateway.provider.writes += [silence, silence]
    gateway.provider.reads += [silence]
    assert code_of(await gateway.call("A", deadline_ms=300)) == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    assert code_of(await gateway.call(tool="get_status", deadline_ms=100)) == ErrorCode.DOWNSTREAM_TIMEOUT
    assert [view.state for view in gateway.pipeline.breakers()] in ([], ["closed"])
    assert code_of(await gateway.call("B")) == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    assert [view.state for view in gateway.pipeline.breakers()] == ["open"]


async def test_one_probe_closes_it(rig: MakeRig) -> None:
    """After `breaker.open` one call goes through while all others are refused; its success lets everybody in."""
    times = {"breaker": {"consecutive": 1, "open": "100ms", "window": "1h"}, "retry.max_attempts": 1}
    gateway = await rig(keyed({**times, "timeouts.read": "2s"}))
    gateway.provider.writes += [answer(500)]
    await gateway.call("BROKEN")
    await asyncio.sleep(0.35)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    probe = gateway.soon("PROBE")
    await gateway.provider.until_sent(2)
    refused = await asyncio.gather(*(gateway.call(f"ORDER{number}") for number in range(20)))
    assert {code_of(it) for it in refused} == {ErrorCode.CIRCUIT_OPEN}
    hold.set()
    assert (await probe).ok
    assert (await gateway.call()).ok
    assert len(gateway.provider.sent) == 3


async def test_a_probe_that_found_no_slot_is_given_back(rig: MakeRig) -> None:
    """It never left: the next caller probes at once, and does not wait for the end of a probe that was none."""
    shared = {"breaker": {"consecutive": 1, "open": "50ms", "scope": "one"}, "retry.max_attempts": 1}
    crowded = {"limits.concurrency": 1, "timeouts.pool": "50ms", "timeouts.read": "2s"}
    gateway = await rig(keyed(shared), keyed({"name": "crowded", **shared, **crowded}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold), answer(500)]
    first = gateway.soon("A", tool="crowded")
    await gateway.provider.until_sent(1)
    await gateway.call("BROKEN")
    await asyncio.sleep(0.06)
    assert code_of(await gateway.call("B", tool="crowded")) == ErrorCode.GATEWAY_SATURATED
    assert (await gateway.call("C")).ok
    hold.set()
    assert (await first).ok


async def test_a_throttled_service_is_left_alone(rig: MakeRig) -> None:
    """Retry-After of one call holds back the next ones too, and says how long; nothing is sent for them."""
    gateway = await rig(plain())
    gateway.provider.writes += [answer(429, Retry_After="60")]
    await gateway.call("A")
    refused = await gateway.call("B")
    assert code_of(refused) == ErrorCode.RATE_LIMITED
    assert refused.error is not None
    assert refused.error.retry_after_s is not None
    assert 50 < refused.error.retry_after_s <= 60
    assert len(gateway.provider.sent) == 1


async def test_a_full_bulkhead_refuses(rig: MakeRig) -> None:
    """`limits.concurrency` attempts run; the next waits `timeouts.pool` and is told that the gateway is full."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "100ms", "timeouts.read": "2s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    started = time.monotonic()
    refused = await gateway.call("B")
    assert code_of(refused) == ErrorCode.GATEWAY_SATURATED
    assert 0.1 <= time.monotonic() - started < 1.5
    hold.set()
    assert (await first).ok
    assert [it.order for it in gateway.provider.sent] == ["A"]
    assert (await gateway.call("B")).ok


async def test_a_queue_moves_on(rig: MakeRig) -> None:
    """Who waits less than `timeouts.pool` gets the slot."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "2s", "timeouts.read": "2s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    calls = [gateway.soon("A")]
    await gateway.provider.until_sent(1)
    calls += [gateway.soon("B"), gateway.soon("C")]
    hold.set()
    assert all(it.ok for it in await asyncio.gather(*calls))


async def test_a_deadline_that_passes_in_the_queue_is_said_to_be_one(rig: MakeRig) -> None:
    """The caller may come again with more time; the bulkhead would have let it wait longer."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "2s", "timeouts.read": "2s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    hurried = await gateway.call("B", deadline_ms=300)
    assert code_of(hurried) == ErrorCode.DEADLINE_BEFORE_SEND
    hold.set()
    assert (await first).ok


async def test_a_listener_gives_its_slot_away(rig: MakeRig) -> None:
    """Its caller was answered; the next write may run."""
    gateway = await rig(plain({"limits.concurrency": 1, "limits.listening": 1}))
    gateway.provider.writes += [silence]
    assert code_of(await gateway.call("A")) == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    refused = await gateway.call("B")
    assert code_of(refused) == ErrorCode.GATEWAY_SATURATED


async def test_listening_is_bounded(rig: MakeRig) -> None:
    """With `limits.listening` answers outstanding no new write goes out, and a read does."""
    gateway = await rig(plain({"limits.listening": 2}))
    hold = asyncio.Event()
    gateway.provider.writes += [when(hold, act), when(hold, act)]
    for order in ("A", "B"):
        assert code_of(await gateway.call(order)) == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    refused = await gateway.call("C")
    assert code_of(refused) == ErrorCode.GATEWAY_SATURATED
    assert refused.error is not None
    assert refused.error.details["limit"] == "2 writes whose answer is still awaited"
    assert (await gateway.call("A", tool="get_status")).ok
    hold.set()
    await gateway.until(State.DONE, order="A")
    await gateway.until(State.DONE, order="B")
    assert (await gateway.call("C")).ok


async def test_a_fresh_connection_is_never_a_used_one(rig: MakeRig) -> None:
    """`backend.http.fresh_connection`; without it the idle connection is used again."""
    fresh = {"name": "fresh", "backend.http.fresh_connection": True}
    gateway = await rig(plain(), plain(fresh))
    for number in range(2):
        assert (await gateway.call(f"ORDER{number}")).ok
    for number in range(2):
        assert (await gateway.call(f"OTHER{number}", tool="fresh")).ok
    assert [it.connection for it in gateway.provider.sent] == [0, 0, 1, 2]


async def test_the_downstream_is_told_the_time_left(rig: MakeRig) -> None:
    """In the declared header, in milliseconds, less on every attempt; for a read as for a write."""
    gateway = await rig(
        plain({"backend.http.deadline_header": "X-Time-Left"}), read({"backend.http.deadline_header": "X-Time-Left"})
    )
    gateway.provider.writes += [answer(429)]
    await gateway.call(deadline_ms=1_000)
    await gateway.call(tool="get_status", deadline_ms=500)
    first, second, looked = [int(it.headers["x-time-left"]) for it in gateway.provider.requests]
    assert 1_000 > first > second > 0
    assert 0 < looked < 500


async def test_without_the_header_nothing_is_told(rig: MakeRig) -> None:
    """No name, no header."""
    gateway = await rig(plain())
    await gateway.call()
    assert set(gateway.provider.sent[0].headers) <= {
        "host",
        "content-type",
        "content-length",
        "traceparent",
        "accept",
        "accept-encoding",
        "user-agent",
    }


async def test_the_downstream_gets_the_trace(rig: MakeRig) -> None:
    """The trace goes on, with the attempt as the parent, and what came with it."""
    gateway = await rig(plain(), telemetry=Spans().telemetry)
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    await gateway.call(traceparent=f"00-{trace_id}-b7ad6b7169203331-01", tracestate="a=b")
    sent = gateway.provider.sent[0].headers
    version, trace, span, _ = sent["traceparent"].split("-")
    assert (version, trace) == ("00", trace_id)
    assert span != "b7ad6b7169203331"
    assert sent["tracestate"] == "a=b"


async def test_a_connection_that_is_not_made_in_time_is_given_up(rig: MakeRig) -> None:
    """`timeouts.connect`: the request was never delivered, and the caller is told so."""
    gateway = await rig(plain({"timeouts.connect": "100ms", "retry.max_attempts": 1}))
    await gateway.provider.stop()
    with gateway.provider.unreachable():
        started = time.monotonic()
        envelope = await gateway.call()
    assert code_of(envelope) == ErrorCode.CONNECT_TIMEOUT
    assert 0.1 <= time.monotonic() - started < 1.5


async def test_a_breaker_that_opens_between_attempts_ends_the_retries(rig: MakeRig) -> None:
    """The second failure opens it: no third attempt, and what is unknown stays unknown."""
    gateway = await rig(keyed({"breaker": {"consecutive": 2, "open": "1h"}, "retry.max_attempts": 8}))
    gateway.provider.writes += [cut] * 8
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, len(gateway.provider.sent)) == (CallOutcome.UNKNOWN, 2)
    assert (await gateway.record()).state is State.UNKNOWN


async def test_a_read_may_probe_before_a_plain_write(rig: MakeRig) -> None:
    """An open breaker that is due lets a read through at once, and a plain write only later."""
    times = {"breaker": {"consecutive": 1, "open": "300ms", "scope": "one"}}
    gateway = await rig(plain({**times, "retry.max_attempts": 1}), read(times))
    gateway.provider.writes += [answer(500)]
    await gateway.call("BROKEN")

    async def read_is_answered() -> bool:
        return (await gateway.call(tool="get_status")).ok

    await eventually(read_is_answered)
    assert (await gateway.call("A")).ok
