"""What telemetry is told of calls: results, links, attempts, counts; the same as the rows."""

import asyncio

import pytest

from gateway.adapters.otel.settings import TelemetrySettings
from gateway.stages.execute.operation.record import State
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut, late, silence
from tests.gateway.pipeline.rig import looked_up, plain, read
from tests.gateway.pipeline.trouble import Wires, everything
from tests.gateway.pipeline.watched import Spans, counted
from tests.waiting import eventually


async def test_a_write_without_a_caller_is_counted_like_any_other(rig: MakeRig) -> None:
    """Two callers go away, the one that acts and the one that waits for it: each leaves its row, its span and its count."""
    spans = Spans()
    gateway = await rig(plain({"timeouts.read": "20s"}), telemetry=spans.telemetry)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    acting = gateway.soon()
    await gateway.provider.until_sent(1)
    waiting = gateway.soon()
    await gateway.waiting(gateway.pipeline)
    for call in (acting, waiting):
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert counted(gateway, "oncegate_tool_calls_active") == 2
    hold.set()
    rows = await gateway.rows(2)
    await gateway.pipeline.drain(5)
    assert sorted(row.replayed for row in rows) == [False, True]
    assert counted(gateway, "oncegate_tool_calls_active") == 0
    assert counted(gateway, "oncegate_tool_calls_total") == 2
    assert len(spans.named("execute_tool")) == 2


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
    gateway = await rig(read({"timeouts.read": "20s"}), telemetry=spans.telemetry)
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
    effects = [
        counted(gateway, "oncegate_tool_calls_total", oncegate_tool_effect=it) for it in ("write", "read", "none")
    ]
    assert effects == [2, 1, 1]
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
    gateway = await rig(plain({"limits.concurrency": 1, "timeouts.pool": "1s", "timeouts.read": "20s"}))
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


async def test_an_attempt_is_held_against_its_read_timeout(rig: MakeRig) -> None:
    """`timeouts.read` is the whole of which the share is told; of one this long, nothing is used up."""
    endless = {"timeouts.read": "99999999s", "timeouts.total": "99999999s"}
    gateway = await rig(read(endless))
    await gateway.call(tool="get_status")
    assert 0 < counted(gateway, "oncegate_attempt_timeout_utilization_ratio_sum") < 1e-5


async def test_unknown_operations_are_counted(rig: MakeRig) -> None:
    """Per tool, with the age of the oldest, while the pipeline runs."""
    gateway = await rig(plain(), started=True, settings={"sweep_interval_s": 0.05})
    gateway.provider.writes += [cut]
    await gateway.call()

    async def told() -> bool:
        return counted(gateway, "oncegate_operations_unknown", gen_ai_tool_name="act") == 1

    await eventually(told)
