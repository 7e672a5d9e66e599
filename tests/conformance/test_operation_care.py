"""Reconciliation leases and forgetting."""

import asyncio
from dataclasses import replace

import pytest

from gateway.stages.execute.operation.ports import Change, OperationStore, PinnedManifest, RowFilter, Stale
from gateway.stages.execute.operation.record import Bodies, Hold, Record, State
from gateway.stages.execute.operation.table import Event
from tests.clocks import ManualClock
from tests.conformance.moves import LEASE_S, claimed, drive, fire, history, origin, row
from tests.conformance.stores import ROWS_RETENTION_S, Harness


async def test_an_unknown_record_is_due_at_once(store: OperationStore, clock: ManualClock) -> None:
    """Nobody listens any more: a sweeper may look now. Settled, free and frozen records need no sweeper."""
    now = clock.monotonic()
    unknown = await drive(store, history("a", State.UNKNOWN, now))
    for state in (State.FREE, State.DONE, State.REFUSED, State.FROZEN):
        await drive(store, tuple(replace(r, holds=()) for r in history(state, state, now)))

    assert await store.lease_due("sweeper", 30.0, 10) == (unknown,)


async def test_an_owned_record_is_due_when_its_lease_is_dead(store: OperationStore, clock: ManualClock) -> None:
    """Until the owner's lease has passed the record is the owner's alone; a heartbeat puts the moment off."""
    now = clock.monotonic()
    records = [
        await drive(store, tuple(replace(r, holds=()) for r in history(state, state, now)))
        for state in (State.CLAIMED, State.SENT, State.LISTENING)
    ]
    extended = replace(records[1], lease_until=now + 2 * LEASE_S, version=records[1].version + 1)
    await store.commit(Change(before=records[1], after=extended))

    await clock.advance(LEASE_S - 0.5)
    assert await store.lease_due("sweeper", 5.0, 10) == ()
    await clock.advance(0.5)
    assert await store.lease_due("sweeper", 5.0, 10) == (records[0], records[2])
    await clock.advance(LEASE_S)
    assert extended in await store.lease_due("sweeper", 5.0, 10)


async def test_a_record_is_leased_to_one_sweeper(harness: Harness, clock: ManualClock) -> None:
    """Two sweepers at once get every due record between them, each once; a lease that ran out is given again."""
    one, other = await harness.open(), await harness.open()
    now = clock.monotonic()
    records = [
        await drive(one, tuple(replace(r, holds=()) for r in history(f"n{n}", State.UNKNOWN, now))) for n in range(9)
    ]

    first, second = await asyncio.gather(one.lease_due("one", 10.0, 5), other.lease_due("other", 10.0, 5))
    again = await one.lease_due("one", 10.0, 5)
    await clock.advance(10.0)

    assert sorted(r.key for r in (*first, *second)) == sorted(r.key for r in records)
    assert again == ()
    assert len(await other.lease_due("other", 10.0, 20)) == 9


async def test_the_longest_due_come_first(store: OperationStore, clock: ManualClock) -> None:
    """`limit` leaves the youngest for the next round."""
    records = []
    for name in ("a", "b", "c"):
        versions = history(name, State.UNKNOWN, clock.monotonic())
        records.append(await drive(store, tuple(replace(r, holds=()) for r in versions)))
        await clock.advance(1.0)

    assert await store.lease_due("sweeper", 5.0, 2) == tuple(records[:2])


async def test_a_released_record_is_due_later(store: OperationStore, clock: ManualClock) -> None:
    """`next_look_s` after its release the record is due again, not before; a negative does not hasten it."""
    record = await drive(store, history("a", State.UNKNOWN, clock.monotonic()))
    await store.lease_due("sweeper", 30.0, 10)
    await store.release("acme", record.key, "sweeper", 8.0)
    counted = fire(record, Event.FOUND_NOTHING, clock.monotonic())
    await store.commit(Change(before=record, after=counted))

    await clock.advance(7.5)
    assert await store.lease_due("sweeper", 30.0, 10) == ()
    await clock.advance(0.5)
    assert await store.lease_due("sweeper", 30.0, 10) == (counted,)


async def test_a_strangers_release_changes_nothing(store: OperationStore, clock: ManualClock) -> None:
    """Only the token that holds the lease ends it."""
    record = await drive(store, history("a", State.UNKNOWN, clock.monotonic()))
    await store.lease_due("sweeper", 30.0, 10)
    await store.release("acme", record.key, "stranger", 0.0)
    await store.release("acme", "no such key", "sweeper", 0.0)

    assert await store.lease_due("other", 30.0, 10) == ()
    assert await store.lease_one("acme", record.key, "other", 30.0) is False


async def test_one_record_is_leased_at_will(store: OperationStore, clock: ManualClock) -> None:
    """Due or not, a record that nobody reconciles is leased; the same token may lease it on; another may not."""
    record = await drive(store, history("a", State.UNKNOWN, clock.monotonic()))
    await store.lease_one("acme", record.key, "live", 5.0)
    await store.release("acme", record.key, "live", 60.0)

    assert await store.lease_one("acme", record.key, "live", 5.0) is True
    assert await store.lease_one("acme", record.key, "live", 5.0) is True
    assert await store.lease_one("acme", record.key, "other", 5.0) is False
    assert await store.lease_one("acme", "no such key", "live", 5.0) is False
    await clock.advance(5.0)
    assert await store.lease_one("acme", record.key, "other", 5.0) is True


async def test_settling_ends_the_need_for_care(store: OperationStore, clock: ManualClock) -> None:
    """A record that was settled under a sweeper's lease is not due again after it."""
    record = await drive(store, history("a", State.UNKNOWN, clock.monotonic()))
    await store.lease_due("sweeper", 5.0, 10)
    await store.commit(Change(before=record, after=fire(record, Event.FOUND_ONE, clock.monotonic())))
    await store.release("acme", record.key, "sweeper", 1.0)
    await clock.advance(10.0)

    assert await store.lease_due("sweeper", 5.0, 10) == ()


async def test_retention_leaves_a_tombstone(store: OperationStore, clock: ManualClock) -> None:
    """What settled longer ago loses its bodies and keeps everything else; the rest stays whole."""
    now = clock.monotonic()
    records = {state: await drive(store, _without_holds(state, now)) for state in State}
    settled_wall = records[State.DONE].settled_wall
    assert settled_wall is not None
    await clock.advance(settled_wall + 100.0 - clock.wall())

    assert await store.forget(retention_s=100.5) == 0
    assert await store.forget(retention_s=100.0) == 2
    assert await store.forget(retention_s=100.0) == 0
    for state, record in records.items():
        kept = await store.by_key("acme", record.key)
        buried = replace(record, bodies=Bodies(), holds=(), tombstone=True, version=record.version + 1)
        assert kept == (buried if state in (State.DONE, State.REFUSED) else record)


async def test_a_clock_that_is_set_forward_ends_nothing(harness: Harness, clock: ManualClock) -> None:
    """Neither here nor for a gateway beside it: what was kept lasts as long as time takes. What comes after counts anew."""
    store, other = await harness.open(), await harness.open()
    record = await drive(store, history("a", State.DONE, clock.monotonic()))
    settled = record.settled_wall
    assert settled is not None
    await other.append_rows((row("r1", at_wall=settled),), strict=True)
    await clock.advance(settled + 10.0 - clock.wall())
    for each in (store, other):
        await each.look("acme", ("identity-a",))
        assert each.wall_as_of(settled) - settled == pytest.approx(10.0, abs=0.01)
    clock.step_wall(86_400.0)
    await store.append_rows((row("r2", at_wall=store.wall()),), strict=True)

    for each in (store, other, await harness.open()):
        await each.look("acme", ("identity-a",))
        assert each.wall_as_of(settled) - settled == pytest.approx(10.0, abs=0.01)
        stepped = each.wall()
        assert stepped == pytest.approx(settled + 86_410.0, abs=0.01)
        assert each.wall_as_of(stepped) == pytest.approx(stepped, abs=0.01)
        assert await each.forget(retention_s=11.0) == 0
    await clock.advance(5.0)
    assert store.wall_as_of(stepped) - stepped == pytest.approx(5.0, abs=0.01)
    assert await other.forget(retention_s=16.0) == 0
    assert await other.forget(retention_s=14.0) == 1
    kept = [it.row_id for it in await store.list_rows(RowFilter(tenant="acme"))]
    assert ("r2" in kept, "r1" in kept) == (True, ROWS_RETENTION_S > 15.0)


async def test_one_operation_is_forgotten_at_once(store: OperationStore, clock: ManualClock) -> None:
    """By its id, whatever its age; an open one is not forgotten, and nothing else is."""
    done, other = [await drive(store, history(name, State.DONE, clock.monotonic())) for name in ("a", "b")]
    unknown = await drive(store, history("c", State.UNKNOWN, clock.monotonic()))

    assert await store.forget(retention_s=1e9, operation_id=done.operation_id) == 1
    assert await store.forget(retention_s=1e9, operation_id=unknown.operation_id) == 0
    assert await store.forget(retention_s=1e9, operation_id="no such operation") == 0
    assert [
        r.tombstone for r in (await store.look("acme", ("identity-a", "identity-b", "identity-c"))).occurrences
    ] == [
        True,
        False,
        False,
    ]
    assert await store.by_key("acme", other.key) == other


async def test_tools_are_forgotten_apart(store: OperationStore, clock: ManualClock) -> None:
    """Each tool has its own retention: the store names the tools that have something to forget, and forgets of those."""
    done = history("a", State.DONE, clock.monotonic())[-1]
    records = {
        tool: replace(done, key=tool, operation_id=tool, version=1, origin=origin(tool=tool))
        for tool in ("refund", "ship", "void")
    }
    for record in records.values():
        await store.commit(Change(after=record))
    await drive(store, (claimed("b", clock.monotonic(), by=origin(tool="open")),))
    assert done.settled_wall is not None
    await clock.advance(done.settled_wall + 1.0 - clock.wall())

    assert sorted(await store.tools_kept()) == ["refund", "ship", "void"]
    assert await store.forget(retention_s=0.0, tools=()) == 0
    assert await store.forget(retention_s=2.0, tools=("refund", "void", "open")) == 0
    assert await store.forget(retention_s=0.0, tools=("refund", "void", "open")) == 2
    assert await store.tools_kept() == ("ship",)
    assert await store.by_key("acme", "ship") == records["ship"]


async def test_manifests_stay_pinned(harness: Harness, clock: ManualClock) -> None:
    """A manifest is kept once, as it was first pinned, and given in the order of pinning."""
    store = await harness.open()
    first, second = (
        PinnedManifest(digest=digest, tool="refund", operation="refund", revision=1, canonical=b'{"name":"refund"}')
        for digest in ("z", "a")
    )
    assert (await store.pinned(), await store.pins()) == ((), 0)
    await store.pin((first,))
    await clock.advance(1.0)
    await store.pin((second, replace(first, canonical=b"{}")))

    other = await harness.open()
    assert (await other.pinned(), await other.pins()) == ((first, second), 2)


async def test_forgetting_is_a_change(store: OperationStore, clock: ManualClock) -> None:
    """Whoever had read the record before comes out stale."""
    record = await drive(store, history("a", State.REFUSED, clock.monotonic()))
    await store.forget(retention_s=1e9, operation_id=record.operation_id)

    answer = await store.commit(Change(before=record, after=fire(record, Event.DONE, clock.monotonic())))

    assert isinstance(answer, Stale)
    assert answer.current is not None
    assert answer.current.tombstone


async def test_old_rows_go_with_old_records(store: OperationStore, clock: ManualClock) -> None:
    """Rows past their own retention are deleted; those within it stay."""
    old, young = row("old", at_wall=clock.wall()), row("young", at_wall=clock.wall() + 10.0)
    await store.append_rows((old, young), strict=True)
    await clock.advance(ROWS_RETENTION_S)
    await store.forget(retention_s=1e9, operation_id="none")
    assert len(await store.list_rows(RowFilter(tenant="acme"))) == 2

    await store.forget(retention_s=1e9)

    assert await store.list_rows(RowFilter(tenant="acme")) == (young,)


def _without_holds(state: State, now: float) -> tuple[Record, ...]:
    return tuple(replace(record, holds=(Hold("acme", "order", state),)) for record in history(state, state, now))


async def test_forgetting_goes_through_all(store: OperationStore, clock: ManualClock) -> None:
    """More than one transaction's worth is forgotten in one call."""
    now = clock.monotonic()
    settled = history("a", State.DONE, now)[-1]
    records = [
        replace(settled, key=f"k{n}", operation_id=f"o{n}", identity_key=f"i{n}", version=1, holds=())
        for n in range(1_100)
    ]
    await asyncio.gather(*(store.commit(Change(after=record)) for record in records))
    await clock.advance(100.0)

    assert await store.forget(retention_s=0.0) == 1_100
