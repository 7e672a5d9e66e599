"""The doors before an attempt, and what goes out with it: breaker, throttle, bulkhead, deadline and trace headers."""

import asyncio
import time
from typing import Any

import pytest

from gateway.adapters.http_tool import transport
from gateway.adapters.http_tool.answer_reader import AnswerReader
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.stages.execute.operation.record import State
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, answer, cut, late, silence, when
from tests.gateway.pipeline.rig import plain, read
from tests.gateway.pipeline.watched import Spans


def code_of(envelope: Envelope) -> ErrorCode | None:
    """Its error code."""
    return None if envelope.error is None else envelope.error.code


async def test_a_full_bulkhead_refuses(rig: MakeRig) -> None:
    """`limits.concurrency` attempts run; the next waits `timeouts.pool` and is told that the gateway is full."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "100ms", "timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    started = time.monotonic()
    refused = await gateway.call("B")
    assert code_of(refused) == ErrorCode.GATEWAY_SATURATED
    assert refused.error is not None
    assert refused.error.details["limit"] == "1 calls at a time"
    # The usual `timeouts.pool` is 20 s.
    assert 0.1 <= time.monotonic() - started < 15
    hold.set()
    assert (await first).ok
    assert [it.order for it in gateway.provider.sent] == ["A"]
    assert (await gateway.call("B")).ok


async def test_a_queue_moves_on(rig: MakeRig) -> None:
    """Who waits less than `timeouts.pool` gets the slot."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "2s", "timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    calls = [gateway.soon("A")]
    await gateway.provider.until_sent(1)
    calls += [gateway.soon("B"), gateway.soon("C")]
    hold.set()
    assert all(it.ok for it in await asyncio.gather(*calls))


async def test_a_deadline_that_passes_in_the_queue_is_said_to_be_one(rig: MakeRig) -> None:
    """The caller may come again with more time; the bulkhead would have let it wait longer."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "20s", "timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    started = time.monotonic()
    hurried = await gateway.call("B", deadline_ms=300)
    assert code_of(hurried) == ErrorCode.DEADLINE_BEFORE_SEND
    assert time.monotonic() - started < 15
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
    gateway = await rig(plain(), plain(fresh), read({"backend.http.fresh_connection": True}))
    for number in range(2):
        assert (await gateway.call(f"ORDER{number}")).ok
    for number in range(2):
        assert (await gateway.call(f"OTHER{number}", tool="fresh")).ok
    for _ in range(2):
        assert (await gateway.call(tool="get_status")).ok
    assert [it.connection for it in gateway.provider.requests] == [0, 0, 1, 2, 3, 4]


async def test_the_downstream_is_told_the_time_left(rig: MakeRig) -> None:
    """In the declared header, in milliseconds, less on every attempt; for a read as for a write."""
    gateway = await rig(
        plain({"backend.http.deadline_header": "X-Time-Left"}), read({"backend.http.deadline_header": "X-Time-Left"})
    )
    gateway.provider.writes += [answer(429)]
    await gateway.call(deadline_ms=15_000)
    await gateway.call(tool="get_status", deadline_ms=10_000)
    first, second, looked = [int(it.headers["x-time-left"]) for it in gateway.provider.requests]
    assert 15_000 > first > second > 0
    assert 0 < looked < 10_000


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
    assert 0.1 <= time.monotonic() - started < 15


def failing(fault: Exception) -> Any:
    """Something of ours that fails, whatever it is asked."""

    def fail(*_: object, **__: object) -> None:
        raise fault

    return fail


@pytest.mark.parametrize("tool", ["act", "get_status"])
async def test_a_fault_of_our_own_in_the_transport_is_told_with_its_trace(
    rig: MakeRig, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told that it was ours and that nothing was sent; the log has what it was."""
    gateway = await rig(plain())
    planted = RuntimeError("planted")
    monkeypatch.setattr(transport, "encode_head", failing(planted))
    assert code_of(await gateway.call(tool=tool)) == ErrorCode.GATEWAY_ERROR
    assert (gateway.provider.requests, gateway.faults) == ([], [planted])
    assert planted.__notes__ == [f"an attempt of {tool}"]
    gateway.faults.clear()


async def test_a_fault_of_our_own_after_the_request_left_is_told_too(
    rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write is in doubt, whoever is to blame."""
    gateway = await rig(plain())
    planted = RuntimeError("planted")
    monkeypatch.setattr(AnswerReader, "finish", failing(planted))
    assert code_of(await gateway.call()) == ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME
    assert (len(gateway.provider.sent), gateway.faults) == (1, [planted])
    gateway.faults.clear()


async def test_why_there_was_no_answer_is_in_the_log(rig: MakeRig, caplog: pytest.LogCaptureFixture) -> None:
    """Phase and words of ours, for the tool; what is a fault of the other side is none of ours."""
    gateway = await rig(plain({"retry.max_attempts": 1}))
    gateway.provider.writes += [cut]
    await gateway.call("A")
    await gateway.provider.stop()
    await gateway.call("B")
    lines = [record for record in caplog.records if record.name == "oncegate.events"]
    assert [record.getMessage() for record in lines] == [
        "attempt failed in transport (sent, disconnected): the peer closed without a complete answer",
        "attempt failed in transport (connecting, connect_failed): the connection was not taken",
    ]
    assert {vars(record)[RECORD_ATTRIBUTE]["tool"] for record in lines} == {"act"}
    assert gateway.faults == []
