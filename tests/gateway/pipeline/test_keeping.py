"""Moves of records through the store: carried again when somebody was faster, applied whole or not at all."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.pipeline.keeping import HeldError, Keeper
from gateway.stages.execute.approval import machine as approvals
from gateway.stages.execute.approval.ports import ApprovalChange
from gateway.stages.execute.approval.record import Approval, Decision, Status
from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.claim import Sending
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.ports import Change, OperationStore, RowFilter
from gateway.stages.execute.operation.record import Hold, Origin, Record, State
from gateway.stages.execute.operation.table import IllegalMoveError
from gateway.stages.monitor.silent import Silent
from tests.gateway.pipeline.rig import StoreClock
from tests.gateway.stages.execute.approval.samples import asked

HOLD = Hold("acme", "order", '"A"')
ORIGIN = Origin(
    tenant="acme",
    subject="agent",
    operation="act",
    tool="act",
    tool_version="1",
    manifest_digest="sha256:0",
    effect="write",
    keyed=False,
)


class Counting(Silent):
    """Counts what the keeper tells."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def fenced(self) -> None:
        """An owner had lost its record."""
        self.told.append("fenced")

    def rows_written(self, kind: RowKind, count: int = 1) -> None:
        """Rows are kept."""
        self.told.append(f"{count} {kind}")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[OperationStore]:
    """An empty store."""
    opened = SqliteOperationStore.open(tmp_path / "records.db", host=StoreClock().host())
    yield opened
    await opened.close()


@pytest.fixture
def telemetry() -> Counting:
    """What was counted."""
    return Counting()


@pytest.fixture
def keeper(store: OperationStore, telemetry: Counting) -> Keeper:
    """The keeper of that store."""
    return Keeper(store, telemetry)


def claimed(store: OperationStore, key: str = "k1", *, lease_s: float = 60.0) -> Record:
    """A claim that is not kept yet."""
    return Record(
        key=key,
        identity_key=f"identity of {key}",
        occurrence=1,
        operation_id=f"id of {key}",
        origin=ORIGIN,
        fingerprint="f",
        holds=(HOLD,),
        owner=f"owner of {key}",
        lease_until=store.now() + lease_s,
        created_wall=store.wall(),
    )


def mark_sent(record: Record, now: float) -> Record:
    """The gate's move."""
    sending = Sending(send_by=now + 1, horizon_s=1, wall=1.0, one_effect=False, request=b"{}")
    return machine.pass_gate(record, machine.own(record), sending, now=now)


def row(number: int) -> ExecutionRow:
    """Some row."""
    return ExecutionRow(
        row_id=f"row {number}", kind=RowKind.CALL, at_wall=1.0, tenant="acme", subject="agent", tool="act"
    )


async def test_a_record_is_inserted_once(store: OperationStore, keeper: Keeper) -> None:
    """Who comes second learns that there is one."""
    record = claimed(store)
    assert await keeper.insert(record) is record
    assert await keeper.insert(replace(record, owner="another")) is None


async def test_a_move_is_made_on_the_record_as_it_stands(store: OperationStore, keeper: Keeper) -> None:
    """A heartbeat came between: the move is made again, on the newer version."""
    record = await keeper.insert(claimed(store))
    assert record is not None
    extended = await keeper.extend(record, machine.own(record), 120.0)
    sent = await keeper.move(record, mark_sent)
    assert (extended.version, sent.version, sent.lease_until) == (2, 3, extended.lease_until)


async def test_a_move_and_its_rows_are_kept_together(
    store: OperationStore, keeper: Keeper, telemetry: Counting
) -> None:
    """The rows are made from the record as it becomes; they are counted once they are kept."""
    record = await keeper.insert(claimed(store))
    assert record is not None
    await keeper.move(record, mark_sent, lambda after: (row(after.version),))
    assert [it.row_id for it in await store.list_rows(RowFilter(tenant="acme"))] == ["row 2"]
    assert telemetry.told == ["1 call"]


async def test_a_move_that_changes_nothing_keeps_its_rows_all_the_same(store: OperationStore, keeper: Keeper) -> None:
    """The envelope was given; with no row either, nothing is written."""
    record = await keeper.insert(claimed(store))
    assert record is not None
    assert await keeper.move(record, lambda r, _: r) is record
    assert await keeper.move(record, lambda r, _: r, lambda _: (row(7),)) is record
    assert [it.row_id for it in await store.list_rows(RowFilter(tenant="acme"))] == ["row 7"]


async def test_a_lease_that_ends_meanwhile_lets_nothing_through(
    store: OperationStore, keeper: Keeper, telemetry: Counting
) -> None:
    """`leased`: applied before the lease's end or not at all, and counted as fenced."""
    record = await keeper.insert(claimed(store, lease_s=0.0))
    assert record is not None
    with pytest.raises(FencedError):
        await keeper.move(record, lambda r, _: replace(r, version=r.version + 1), leased=True)
    assert telemetry.told == ["fenced"]
    assert await store.by_key("acme", "k1") == record


async def test_a_move_that_is_illegal_by_now_is_refused(store: OperationStore, keeper: Keeper) -> None:
    """Somebody settled it: the same move on the newer record raises, and changes nothing."""
    record = await keeper.insert(claimed(store))
    assert record is not None
    sent = await keeper.move(record, mark_sent)
    await keeper.move(sent, lambda r, now: machine.see_dead_lease(replace(r, lease_until=0.0), now=now))
    with pytest.raises((FencedError, IllegalMoveError)):
        await keeper.move(record, mark_sent)


async def test_a_hold_of_another_operation_is_told(store: OperationStore, keeper: Keeper) -> None:
    """The second SENT mark on one order raises with who stands there."""
    first = await keeper.insert(claimed(store))
    second = await keeper.insert(claimed(store, "k2"))
    assert first is not None
    assert second is not None
    await keeper.move(first, mark_sent)
    with pytest.raises(HeldError) as held:
        await keeper.move(second, mark_sent)
    assert (held.value.hold, held.value.holder.key) == (HOLD, "k1")
    kept = await store.by_key("acme", "k2")
    assert kept is not None
    assert kept.state is State.CLAIMED


async def test_a_record_that_is_gone_lets_nothing_out(store: OperationStore, keeper: Keeper) -> None:
    """The store has forgotten it: no gate is passed on it, and its owner puts it back with what it learns next."""
    record = claimed(store)
    with pytest.raises(FencedError):
        await keeper.move(record, mark_sent, leased=True)
    extended = await keeper.extend(record, machine.own(record), 120.0)

    assert await store.by_key("acme", "k1") == extended


# -- with an approval ----------------------------------------------------------------------------------------------


def claimed_with_approval(store: OperationStore) -> Record:
    """A claim that rests on one."""
    return replace(claimed(store), approval_id="ap-1", approved_until=store.wall() + 60)


async def approved(store: OperationStore) -> Approval:
    """An approval of it, in the store."""
    wall = store.wall()
    pending = asked(created_wall=wall, expires_wall=wall + 60)
    yes = approvals.approve(pending, Decision(by="lead", wall=wall))
    await store.commit(Change(approval=ApprovalChange(before=None, after=pending)))
    await store.commit(Change(approval=ApprovalChange(before=pending, after=yes)))
    return yes


async def status(store: OperationStore) -> Status:
    """How it stands."""
    found = await store.approval("acme", "ap-1")
    assert found is not None
    return found.status


async def test_a_records_moves_take_its_approval_along(store: OperationStore) -> None:
    """Reserved with the insert, spent with the gate, given back with the end of a claim."""
    keeper = Keeper(store, Silent())
    await approved(store)
    record = claimed_with_approval(store)
    assert await keeper.insert(record) == record
    assert await status(store) is Status.RESERVED
    given_up = await keeper.move(record, lambda r, now: machine.give_up(r, machine.own(record), now=now))
    assert (given_up.state, await status(store)) == (State.FREE, Status.APPROVED)


async def test_a_claim_whose_approval_is_gone_is_fenced(store: OperationStore) -> None:
    """Nothing is kept of it, and it is counted as no insert."""
    keeper = Keeper(store, Silent())
    record = claimed_with_approval(store)
    with pytest.raises(FencedError):
        await keeper.insert(record)
    assert await store.by_key("acme", record.key) is None


async def test_a_gate_asks_whether_the_approver_might_give_it(store: OperationStore, telemetry: Counting) -> None:
    """A no at the gate sends nothing; moves that send nothing are not asked."""
    keeper = Keeper(store, telemetry)
    yes = await approved(store)
    record = claimed_with_approval(store)
    await keeper.insert(record)
    seen: list[Approval] = []

    def gate(r: Record, now: float) -> Record:
        return mark_sent(r, now)

    def no(approval: Approval) -> bool:
        seen.append(approval)
        return False

    with pytest.raises(FencedError):
        await keeper.move(record, gate, leased=True, entitled=no)
    assert [it.approval_id for it in seen] == [yes.approval_id]
    assert (await status(store), telemetry.told) == (Status.RESERVED, ["fenced"])
    sent = await keeper.move(record, gate, leased=True, entitled=lambda _: True)
    assert (sent.state, await status(store)) == (State.SENT, Status.SPENT)


async def test_a_gate_is_not_passed_after_the_approval_has_lapsed(store: OperationStore) -> None:
    """Not even where it lapses between the machine's look and the store's."""
    keeper = Keeper(store, Silent())
    await approved(store)
    record = replace(claimed_with_approval(store), approved_until=store.wall() + 60)
    await keeper.insert(record)

    def late(r: Record, now: float) -> Record:
        return replace(mark_sent(r, now), approved_until=store.wall())

    with pytest.raises(FencedError):
        await keeper.move(record, late, leased=True, entitled=lambda _: True)
    assert await status(store) is Status.RESERVED


async def test_what_becomes_of_an_approval_is_kept_with_a_row_and_counted_once(
    store: OperationStore, telemetry: Counting
) -> None:
    """Who comes second is told that somebody was faster, and leaves no row."""
    keeper = Keeper(store, telemetry)
    wall = store.wall()
    pending = asked(created_wall=wall, expires_wall=wall + 60)
    await store.commit(Change(approval=ApprovalChange(before=None, after=pending)))
    yes, no = (move(pending, Decision(by="lead", wall=wall)) for move in (approvals.approve, approvals.deny))
    assert [await keeper.move_approval(pending, it, f"row-{it.status}") for it in (yes, no)] == [True, False]
    assert (await status(store), telemetry.told) == (Status.APPROVED, ["1 approval"])
    assert [row.row_id for row in await store.list_rows(RowFilter(tenant="acme"))] == ["row-approved"]


async def test_a_lost_approval_keeps_no_evidence_out(store: OperationStore) -> None:
    """What is learned of a record is kept, also when the approval it went out with is not there any more."""
    keeper = Keeper(store, Silent())
    record = claimed_with_approval(store)
    await store.commit(Change(after=record))
    given_up = await keeper.move(record, lambda r, now: machine.give_up(r, machine.own(record), now=now))
    assert given_up.state is State.FREE
