"""The seven stages as a front drives them: cancelling, draining, stopping, telemetry, readiness."""

import asyncio

import pytest

from gateway.adapters.memory.operations import MemoryOperationStore
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.contract.call import Caller
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail
from gateway.contract.requests import ExecutionQuery
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut, late, silence
from tests.gateway.pipeline.rig import CALLER, eventually, looked_up, plain, read
from tests.gateway.pipeline.trouble import Wires, everything
from tests.gateway.pipeline.watched import Spans, counted


async def test_a_write_outlives_its_caller(rig: MakeRig) -> None:
    """The task is cancelled; the write goes on, is recorded, and its re-issued call gets the stored answer."""
    gateway = await rig(plain({"timeouts.read": "2s"}))
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
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "2s", "timeouts.read": "2s"}))
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
    await asyncio.sleep(0.05)
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
    gateway = await rig(plain({"timeouts.total": "300ms", "timeouts.grace": "100ms"}))
    gateway.provider.writes += [silence]
    await gateway.call()
    async with asyncio.timeout(2):
        await gateway.pipeline.stop()


async def test_draining_waits_no_longer_than_it_is_told(rig: MakeRig) -> None:
    """The grace is over, and the call still runs."""
    gateway = await rig(plain({"timeouts.read": "2s"}))
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


async def test_what_a_call_met_is_told_to_telemetry(rig: MakeRig) -> None:
    """New, replayed, in flight, conflict, unknown, store error; nothing for a read."""
    spans, wires = Spans(), Wires()
    gateway = await rig(plain({"timeouts.read": "500ms"}), telemetry=spans.telemetry, wrap=wires)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    calls = [gateway.soon()]
    await gateway.provider.until_sent(1)
    await gateway.call(deadline_ms=230)
    hold.set()
    await asyncio.gather(*calls)
    gateway.provider.writes += [cut]
    for order, amount in (("A", 5), ("A", 6), ("B", 5), ("B", 5)):
        await gateway.call(order, amount)
    await gateway.call(tool="get_status")
    wires.it.loses = everything
    await gateway.call()
    wires.it.loses = None
    found = [it["oncegate.idempotency.result"] for it in spans.attributes("execute_tool")]
    assert found == ["in_flight", "new", "replayed", "conflict", "new", "unknown", "none", "store_error"]


async def test_a_replay_points_to_the_first_execution(rig: MakeRig) -> None:
    """A link with its reason, to the span of the call that was executed."""
    spans = Spans()
    gateway = await rig(plain(), telemetry=spans.telemetry)
    await gateway.call()
    await gateway.call()
    first, again = spans.named("execute_tool")
    (link,) = again.links
    assert first.context is not None
    assert (link.context.trace_id, link.context.span_id) == (first.context.trace_id, first.context.span_id)
    assert dict(link.attributes or {})["oncegate.link.type"] == "original_execution"


async def test_a_reconciliation_points_to_the_call(rig: MakeRig) -> None:
    """A trace of its own, linked to the one whose outcome is looked for."""
    spans = Spans()
    gateway = await rig(looked_up({"reconcile.inline": "0ms"}), telemetry=spans.telemetry)
    gateway.provider.writes += [acts_then(cut)]
    envelope = await gateway.call()
    await gateway.reconcile(envelope.meta.operation_id)
    (span,) = spans.named("reconcile")
    (link,) = span.links
    assert f"{link.context.trace_id:032x}" == envelope.meta.trace_id
    attributes = dict(span.attributes or {})
    assert (attributes["oncegate.reconcile.method"], attributes["oncegate.reconcile.result"]) == ("lookup", "done")


async def test_attempts_are_spans_of_their_call(rig: MakeRig) -> None:
    """First and retry, under the call's span; so are both baselines and the look-up that found it."""
    spans = Spans()
    gateway = await rig(looked_up({"reconcile.inline": "500ms"}), telemetry=spans.telemetry)
    gateway.provider.writes += [answer(429), acts_then(cut)]
    assert (await gateway.call()).ok
    (call,) = spans.named("execute_tool")
    posts, gets = spans.named("POST"), spans.named("GET")
    kinds = [dict(span.attributes or {})["oncegate.attempt.kind"] for span in posts]
    assert kinds == ["first", "retry"]
    assert [dict(span.attributes or {})["oncegate.attempt.kind"] for span in gets] == ["lookup"] * 3
    assert call.context is not None
    assert {span.context.trace_id for span in (*posts, *gets) if span.context} == {call.context.trace_id}


async def test_arguments_are_captured_where_manifest_and_operator_ask(rig: MakeRig) -> None:
    """`telemetry.capture` with the setting; the validated form, and no other argument."""
    spans = Spans(TelemetrySettings(capture=True))
    gateway = await rig(plain({"telemetry.capture": ["order"]}), telemetry=spans.telemetry)
    await gateway.call(" a ")
    (attributes,) = spans.attributes("execute_tool")
    assert attributes["gen_ai.tool.call.arguments"] == '{"order": "A"}'


async def test_an_abandoned_read_is_said_to_be(rig: MakeRig) -> None:
    """Its span ends without an envelope."""
    spans = Spans()
    gateway = await rig(read({"timeouts.read": "2s"}), telemetry=spans.telemetry)
    gateway.provider.reads += [silence]
    call = gateway.soon(tool="get_status")
    await gateway.provider.until_asked(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (attributes,) = spans.attributes("execute_tool")
    assert attributes["oncegate.call.abandoned"] is True


async def test_rows_and_envelopes_are_counted_alike(rig: MakeRig) -> None:
    """One row of kind call for each envelope, settlements apart, and failures to keep them."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    await gateway.call()
    hold.set()
    await gateway.until(State.DONE)
    await gateway.call()
    await gateway.call(tool="get_status")
    await gateway.call(tool="made_up")
    assert counted(gateway, "oncegate_audit_records_total", oncegate_row_kind="call") == 4
    assert counted(gateway, "oncegate_audit_records_total", oncegate_row_kind="settlement") == 1
    assert counted(gateway, "oncegate_audit_failures_total") == 0
    wires.it.loses = everything
    await gateway.call(tool="get_status")
    wires.it.loses = None
    assert counted(gateway, "oncegate_audit_failures_total", oncegate_row_kind="call") >= 1

    async def kept() -> bool:
        return counted(gateway, "oncegate_audit_records_total", oncegate_row_kind="call") == 5

    await eventually(kept)


async def test_a_fenced_owner_is_counted(rig: MakeRig) -> None:
    """It woke up and found that its record was taken."""
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "1s", "timeouts.read": "1s"}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    blocker = gateway.soon("B")
    await gateway.provider.until_sent(1)
    silent = gateway.soon("A")
    await gateway.until(State.CLAIMED)
    gateway.clock.ahead_s += 1_000
    await gateway.call("A", at=gateway.also())
    assert counted(gateway, "oncegate_operations_fenced_total") == 0
    hold.set()
    await asyncio.gather(blocker, silent)
    assert counted(gateway, "oncegate_operations_fenced_total") >= 1


async def test_sizes_costs_and_cuts_are_counted(rig: MakeRig) -> None:
    """Bytes of the tool's answer, units spent once, results that were cut."""
    gateway = await rig(plain({"cost": {"unit": "refund", "per_call": 2.5}, "result_view": {"select": ["id"]}}))
    gateway.provider.writes += [acts_then(answer(200, {"id": "x" * 100, "n": 1}))]
    await gateway.call()
    await gateway.call()
    assert counted(gateway, "oncegate_result_size_bytes_sum") == len('{"id": "", "n": 1}') + 100
    assert counted(gateway, "oncegate_tool_cost_total", oncegate_cost_unit="refund") == 2.5
    gateway.provider.writes += [cut, answer(422)]
    await gateway.call("MAYBE")
    await gateway.call("NOT")
    assert counted(gateway, "oncegate_tool_cost_total") == sum(row.cost for row in await gateway.rows(4)) == 5.0
    assert counted(gateway, "oncegate_result_truncated_total") >= 1


async def test_unknown_operations_are_counted(rig: MakeRig) -> None:
    """Per tool, with the age of the oldest, while the pipeline runs."""
    gateway = await rig(plain(), started=True, settings={"sweep_interval_s": 0.05})
    gateway.provider.writes += [cut]
    await gateway.call()

    async def told() -> bool:
        return counted(gateway, "oncegate_operations_unknown", gen_ai_tool_name="act") == 1

    await eventually(told)


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
    ]
    wires.it.loses = None
    for envelope in envelopes:
        assert not isinstance(envelope, tuple)
        assert envelope.error is not None
        assert envelope.error.code == ErrorCode.STORE_UNAVAILABLE
