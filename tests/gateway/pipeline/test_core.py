"""The seven stages as a front drives them: cancelling, draining, stopping, telemetry, readiness."""

import asyncio
import time
from dataclasses import replace

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail
from gateway.contract.requests import ExecutionQuery, SignalQuery
from gateway.stages.execute.operation.record import State
from tests.clocks import ManualClock
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import late, silence
from tests.gateway.pipeline.rig import CALLER, ending, plain, read
from tests.gateway.pipeline.trouble import Wires, everything
from tests.waiting import eventually


async def test_a_write_outlives_its_caller(rig: MakeRig) -> None:
    """The task is cancelled; the write goes on, is recorded, and its re-issued call gets the stored answer."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    hold.set()
    await gateway.until(State.DONE)
    again = await gateway.call()
    assert (again.ok, again.meta.replayed, len(gateway.provider.sent)) == (True, True, 1)
    assert [row.outcome for row in await gateway.rows(2)] == ["ok", "ok"]


async def test_a_write_that_was_not_sent_yet_outlives_its_caller_too(rig: MakeRig) -> None:
    """It waits for its slot, acts and is recorded."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "2s", "timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    first = gateway.soon("B")
    await gateway.provider.until_sent(1)
    call = gateway.soon("A")
    await gateway.until(State.CLAIMED)
    call.cancel()
    hold.set()
    assert (await first).ok
    await gateway.until(State.DONE)


async def test_stopping_waits_for_listeners(rig: MakeRig) -> None:
    """What they hear is recorded before the store closes."""
    gateway = await rig(plain())
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    early = await gateway.call()
    stopping = asyncio.create_task(gateway.pipeline.stop())
    # Its store, which stopping closes in the end, still tells how the record stands.
    await gateway.until(State.LISTENING)
    assert not stopping.done()
    hold.set()
    await stopping
    reopened = SqliteOperationStore.open(gateway.manifests.parent / "records.db", host=gateway.clock.host())
    record = await reopened.by_operation_id("acme", early.meta.operation_id or "")
    await reopened.close()
    assert record is not None
    assert record.state is State.DONE


async def test_stopping_is_bounded_by_the_listeners_own_end(rig: MakeRig) -> None:
    """A service that never answers holds it up until `total + grace`, and no longer."""
    gateway = await rig(plain(ending("1500ms", "500ms")))
    gateway.provider.writes += [silence]
    await gateway.call()
    await gateway.until(State.LISTENING)
    started = time.monotonic()
    await gateway.pipeline.stop()
    # The usual times would be 30 s.
    assert time.monotonic() - started < 15


async def test_draining_waits_no_longer_than_it_is_told(rig: MakeRig) -> None:
    """The grace is over, and the call still runs."""
    gateway = await rig(plain({"timeouts.read": "20s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    call = gateway.soon()
    await gateway.provider.until_sent(1)
    await gateway.pipeline.drain(0.05)
    assert not call.done()
    hold.set()
    assert (await call).ok


async def test_readiness_follows_the_store(rig: MakeRig) -> None:
    """Ready, not ready while it is away, ready again; draining is not ready."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    assert (await gateway.pipeline.ready()).ready
    wires.it.loses = everything
    away = await gateway.pipeline.ready()
    assert (away.ready, away.checks) == (False, {"store": "the wire is cut"})
    wires.it.loses = None
    assert (await gateway.pipeline.ready()).ready
    await gateway.pipeline.drain(0.01)
    draining = await gateway.pipeline.ready()
    assert (draining.ready, draining.draining) == (False, True)


async def test_a_store_that_forgets_is_a_warning(rig: MakeRig) -> None:
    """It works, but not as it should."""
    gateway = await rig(plain(), store=lambda _: MemoryOperationStore(SystemClock()))
    readiness = await gateway.pipeline.ready()
    assert (readiness.ready, len(readiness.warnings)) == (True, 1)


async def test_what_the_front_refused_leaves_a_row(rig: MakeRig) -> None:
    """The request was not even a call."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    envelope = fail(ErrorCode.INVALID_JSON, Meta(request_id="x"))
    await gateway.pipeline.refused(envelope, CALLER)
    wires.it.loses = everything
    await gateway.pipeline.refused(envelope, CALLER)
    wires.it.loses = None
    rows = await gateway.rows(2)
    assert [(row.code, row.request_id, row.subject, row.tool) for row in rows] == [
        ("invalid_json", "x", "agent", "_unknown")
    ] * 2


async def test_an_unknown_tool_is_refused_with_a_row(rig: MakeRig) -> None:
    """What the caller wrote is not its name in the row."""
    gateway = await rig(plain())
    envelope = await gateway.call(tool="made_up")
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.UNKNOWN_TOOL
    assert [row.tool for row in await gateway.rows(1)] == ["_unknown"]


async def test_a_repeat_on_purpose_is_refused(rig: MakeRig) -> None:
    """No manifest can ask for the approval that it would need: nothing is done a second time."""
    gateway = await rig(plain())
    first = await gateway.call()
    envelope = await gateway.call(repeat_of=first.meta.operation_id)
    assert envelope.error is not None
    assert (envelope.error.code, len(gateway.provider.sent)) == (ErrorCode.REPEAT_NOT_ALLOWED, 1)
    assert [row.code for row in await gateway.rows()] == [None, "repeat_not_allowed"]


async def test_a_caller_without_the_permission_is_refused(rig: MakeRig) -> None:
    """`permission`, before anything else is looked at."""
    gateway = await rig(plain())
    await gateway.call()
    envelope = await gateway.call(caller=Caller(subject="agent", tenant="acme", permissions=frozenset({"things:read"})))
    assert envelope.error is not None
    assert (envelope.error.code, envelope.meta.replayed) == (ErrorCode.FORBIDDEN, False)


@pytest.mark.parametrize("how", ["setting", "manifest"])
async def test_rows_of_reads_may_be_kept_before_the_answer(rig: MakeRig, how: str) -> None:
    """`rows: sync`, of the operator or of the manifest: the row is there when the answer is."""
    settings = {"rows": "sync"} if how == "setting" else {}
    changes = {"rows": "sync"} if how == "manifest" else {}
    gateway = await rig(read(changes), settings=settings)
    await gateway.call(tool="get_status")
    assert len(await gateway.rows()) == 1


async def test_rows_of_reads_are_otherwise_kept_together(rig: MakeRig) -> None:
    """Not yet when the answer is there, and soon after."""
    gateway = await rig(read())
    await gateway.call(tool="get_status")
    assert await gateway.rows() == []
    assert len(await gateway.rows(1)) == 1


async def test_questions_are_answered_while_the_store_is_away(rig: MakeRig) -> None:
    """They say that it is away; nobody gets an exception."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    await gateway.call()
    wires.it.loses = everything
    envelopes = [
        await gateway.pipeline.operation("x", CALLER),
        await gateway.pipeline.reconcile("x", CALLER),
        await gateway.pipeline.executions(ExecutionQuery(), CALLER),
        await gateway.pipeline.signals(SignalQuery(), CALLER),
    ]
    wires.it.loses = None
    for envelope in envelopes:
        assert not isinstance(envelope, tuple)
        assert envelope.error is not None
        assert envelope.error.code == ErrorCode.STORE_UNAVAILABLE


async def test_a_store_that_is_busy_for_a_moment_does_not_keep_a_gateway_from_starting(rig: MakeRig) -> None:
    """It is asked again, in a moment, and the gateway comes up."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    clock = ManualClock()
    other = gateway.also(replace(gateway.parts, clock=clock))
    wires.it.loses = everything
    starting = asyncio.create_task(other.start())
    await clock.sleepers(1)
    wires.it.loses = None
    await clock.advance(1.0)
    await starting

    assert wires.it.lost == 1


async def test_no_fault_of_the_store_ends_what_runs_beside_calls(rig: MakeRig) -> None:
    """Each care asks its question again, also when what it waited for was cancelled under it."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    clock = ManualClock(monotonic=time.monotonic(), wall=time.time())
    other = gateway.also(replace(gateway.parts, clock=clock))
    cares = {"lease_due": 0, "lapsed_approvals": 0, "tools_kept": 0, "count_unknown": 0}

    async def cancelled_once(name: str, _: object) -> None:
        if name in cares:
            cares[name] += 1
            if cares[name] == 1:
                raise asyncio.CancelledError

    wires.it.delays = cancelled_once
    await other.start()
    await eventually(lambda: min(cares.values()) == 1)
    await clock.advance(60.0)
    await eventually(lambda: min(cares.values()) >= 2)

    assert {note for fault in gateway.faults for note in fault.__notes__} == {
        "sweeper", "approvals", "retention", "unknown operations"
    }  # fmt: skip
    gateway.faults.clear()
    await other._background.end()
