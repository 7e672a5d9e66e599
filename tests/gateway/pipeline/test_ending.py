"""How a write's end is told and kept: the record, its one row and the envelope say the same; the store may be away."""

import asyncio

import pytest

from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.execution import RowKind
from gateway.stages.execute.operation.ports import OperationFilter
from gateway.stages.execute.operation.record import Knowledge, State
from tests.gateway.manifest.sample import KEYED
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import acts_then, answer, cut, late, silence
from tests.gateway.pipeline.rig import keyed, looked_up, plain
from tests.gateway.pipeline.trouble import Wires, everything, marking, rows_alone
from tests.waiting import PATIENCE_S, eventually


async def test_a_store_that_is_away_before_the_claim_stops_the_write(rig: MakeRig) -> None:
    """Nothing is sent and the caller is told so; its row is kept once the store is back."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses = everything
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.STORE_UNAVAILABLE, CallOutcome.NOT_EXECUTED)
    assert (envelope.meta.recorded, gateway.provider.requests) == (False, [])
    wires.it.loses = None

    async def kept() -> bool:
        return [row.code for row in await gateway.rows()] == ["store_unavailable"]

    await eventually(kept)


async def test_reads_are_served_without_the_store(rig: MakeRig) -> None:
    """They need no record; the row is kept later, once."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses = everything
    envelope = await gateway.call(tool="get_status")
    assert envelope.ok
    wires.it.loses = None

    async def kept() -> bool:
        return [row.tool for row in await gateway.rows()] == ["get_status"]

    await eventually(kept)


async def test_a_store_that_is_away_at_the_claim_stops_the_write(rig: MakeRig) -> None:
    """Reading it worked, claiming did not."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses = marking(State.CLAIMED)
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, gateway.provider.requests) == (ErrorCode.STORE_UNAVAILABLE, [])


async def test_a_store_that_is_away_at_the_gate_stops_the_write(rig: MakeRig) -> None:
    """The SENT mark is not durable: not one byte leaves, and the operation is free again."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses = marking(State.SENT)
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.STORE_UNAVAILABLE, CallOutcome.NOT_EXECUTED)
    assert gateway.provider.sent == []
    wires.it.loses = None
    assert (await gateway.until(State.FREE)).attempts == ()
    assert (await gateway.call()).ok


async def test_a_gate_whose_answer_is_lost_sends_nothing(rig: MakeRig) -> None:
    """The mark may be there: the caller is told the truth, and the next call acts."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses, wires.it.reply_lost = marking(State.SENT), True
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.STORE_UNAVAILABLE, CallOutcome.NOT_EXECUTED)
    assert gateway.provider.sent == []
    wires.it.loses = None
    await gateway.until(State.FREE)
    assert (await gateway.call()).ok
    assert len(gateway.provider.sent) == 1


async def test_a_store_that_is_away_at_the_finish_does_not_change_the_answer(rig: MakeRig) -> None:
    """The caller gets its result, said not to be recorded; record and one row are kept when the store is back."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses = marking(State.DONE)
    envelope = await gateway.call()
    assert (envelope.ok, envelope.data["id"], envelope.meta.recorded) == (True, "A-1", False)
    assert (await gateway.record()).state is State.SENT
    wires.it.loses = None
    await gateway.until(State.DONE)
    assert [(row.kind, row.outcome) for row in await gateway.rows()] == [(RowKind.CALL, "ok")]
    again = await gateway.call()
    assert (again.meta.replayed, again.data) == (True, envelope.data)


async def test_a_finish_whose_answer_is_lost_is_kept_once(rig: MakeRig) -> None:
    """It was applied, and is tried again: still one settled record and one row."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses, wires.it.reply_lost = marking(State.DONE), True
    envelope = await gateway.call()
    assert (envelope.ok, envelope.meta.recorded) == (True, False)
    await eventually(lambda: wires.it.lost >= 3)
    wires.it.loses = None
    await gateway.until(State.DONE)
    # With the last that was left to keep.
    assert await gateway.pipeline._spool.drained(PATIENCE_S)
    assert [(row.kind, row.outcome) for row in await gateway.rows()] == [(RowKind.CALL, "ok")]


async def test_a_store_that_is_away_when_the_caller_is_answered_early(rig: MakeRig) -> None:
    """*Unknown* is told in time, listening goes on, and what is heard is recorded when it can be."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    wires.it.loses = marking(State.LISTENING, State.DONE)
    early = await gateway.call()
    assert early.error is not None
    assert (early.error.outcome, early.meta.recorded) == (CallOutcome.UNKNOWN, False)
    lost = wires.it.lost
    hold.set()
    await eventually(lambda: wires.it.lost > lost)
    wires.it.loses = None
    await gateway.until(State.DONE)

    async def kept() -> bool:
        return [row.kind for row in await gateway.rows()].count(RowKind.CALL) == 1

    await eventually(kept)


async def test_stopping_does_not_wait_for_a_store_that_stays_away(rig: MakeRig) -> None:
    """What was heard is lost with the process, which ends all the same; the record still says that it is unknown."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires, settings={"lease_s": 0.2})
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    await gateway.call()
    wires.it.loses = everything
    hold.set()
    async with asyncio.timeout(15):
        await gateway.pipeline.stop()

    reopened = SqliteOperationStore.open(gateway.manifests.parent / "records.db", host=gateway.clock.host())
    (record,) = await reopened.list_operations(OperationFilter(tenant="acme", limit=2))
    await reopened.close()
    assert (record.state, record.attempts[0].knowledge) == (State.LISTENING, Knowledge.UNKNOWN)


async def test_every_envelope_of_a_write_leaves_one_row(rig: MakeRig) -> None:
    """Done, replayed, conflict, refused by us, unknown, held: one call row each, with the envelope's own words."""
    gateway = await rig(plain(), plain({"name": "other"}))
    envelopes = [await gateway.call("A"), await gateway.call("A"), await gateway.call("A", 6)]
    gateway.provider.writes += [answer(422), cut]
    envelopes += [await gateway.call("B"), await gateway.call("C"), await gateway.call("C")]
    envelopes += [await gateway.call("C", tool="other"), await gateway.call("D", deadline_ms=1)]
    envelopes += [await gateway.call("D", -1)]
    rows = await gateway.rows(len(envelopes))
    assert [(row.code, row.replayed, row.attempts, row.operation_id) for row in rows] == [
        (None if it.error is None else it.error.code.value, it.meta.replayed, it.meta.attempts, it.meta.operation_id)
        for it in envelopes
    ]
    assert {row.kind for row in rows} == {RowKind.CALL}
    assert [row.outcome for row in rows] == [
        "ok",
        "ok",
        "not_executed",
        "not_executed",
        "unknown",
        "unknown",
        "not_executed",
        "not_executed",
        "not_executed",
    ]


async def test_a_settlement_is_a_row_of_its_own(rig: MakeRig) -> None:
    """What is learned after the envelope had gone is counted apart, with how it was learned."""
    gateway = await rig(looked_up())
    gateway.provider.writes += [acts_then(cut)]
    gateway.provider.reads += [answer(200, {"items": [], "complete": True})]
    gateway.provider.every_read = answer(503)
    await gateway.call()
    gateway.provider.every_read = None
    await gateway.call()
    rows = await gateway.rows()
    assert [(row.kind, row.outcome, row.settled_by) for row in rows] == [
        (RowKind.CALL, "unknown", None),
        (RowKind.SETTLEMENT, "ok", "lookup"),
        (RowKind.CALL, "ok", None),
    ]
    assert len({row.row_id for row in rows}) == 3


async def test_an_unexpected_fault_after_the_send_is_unknown(rig: MakeRig) -> None:
    """Something of our own raised: what the record says decides what may be claimed, and the log has the fault."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)

    def breaks(name: str, args: tuple[object, ...]) -> bool:
        if marking(State.DONE)(name, args):
            raise RuntimeError("planted")
        return False

    wires.it.loses = breaks
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (
        ErrorCode.GATEWAY_ERROR_UNKNOWN_OUTCOME,
        CallOutcome.UNKNOWN,
    )
    assert "planted" not in str(envelope.to_dict())
    assert [str(fault) for fault in gateway.faults] == ["planted"]
    gateway.faults.clear()
    wires.it.loses = None
    assert [row.code for row in await gateway.rows(1)] == ["gateway_error_unknown_outcome"]


async def test_an_unexpected_fault_before_the_send_is_not_executed(rig: MakeRig) -> None:
    """Nothing was sent, and nothing else is claimed."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)

    def breaks(name: str, args: tuple[object, ...]) -> bool:
        if marking(State.SENT)(name, args):
            raise RuntimeError("planted")
        return False

    wires.it.loses = breaks
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.outcome) == (ErrorCode.GATEWAY_ERROR, CallOutcome.NOT_EXECUTED)
    assert gateway.provider.sent == []
    gateway.faults.clear()


async def test_a_call_that_is_overtaken_tells_what_the_other_learned(rig: MakeRig) -> None:
    """While the caller is held, a look-up elsewhere settles the record: the caller gets that answer."""
    gateway = await rig(keyed({"reconcile": {**KEYED["reconcile"], "inline": "0ms"}, "timeouts.read": "1500ms"}))
    gateway.provider.writes += [acts_then(silence)]
    first = gateway.soon()
    await gateway.provider.until_sent(1)
    other = gateway.also()
    gateway.clock.ahead_s += 1_000
    second = await gateway.call(at=other)
    told = await first
    assert (second.ok, told.ok, told.data) == (True, True, second.data)
    assert len(gateway.provider.acts) == 1


@pytest.mark.parametrize("status", [200, 201, 202])
async def test_an_accepted_action_that_is_pending_is_said_to_be(rig: MakeRig, status: int) -> None:
    """202 carries a warning with the answer, and it is there in the replay too."""
    gateway = await rig(plain())
    gateway.provider.writes += [acts_then(answer(status, {"id": "x"}))]
    first, again = await gateway.call(), await gateway.call()
    assert (first.ok, again.ok) == (True, True)
    assert (len(first.meta.warnings) == 1) is (status == 202)
    assert again.meta.warnings == first.meta.warnings


async def test_rows_alone_are_kept_later(rig: MakeRig) -> None:
    """A refusal of ours is told although its row cannot be kept yet."""
    wires = Wires()
    gateway = await rig(plain(), wrap=wires)
    wires.it.loses = rows_alone
    envelope = await gateway.call(deadline_ms=1)
    assert envelope.error is not None
    assert envelope.error.code == ErrorCode.DEADLINE_TOO_SHORT
    wires.it.loses = None

    async def kept() -> bool:
        return [row.code for row in await gateway.rows()] == ["deadline_too_short"]

    await eventually(kept)
