"""What is asked of a store: lists, rows, times."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation.ports import Applied, Change, OperationFilter, OperationStore, RowFilter
from gateway.stages.execute.operation.record import State
from gateway.stages.execute.operation.table import Event
from tests.clocks import ManualClock
from tests.conformance.moves import claimed, drive, fire, history, origin, row
from tests.conformance.stores import Harness


async def test_operations_are_listed_newest_first(store: OperationStore, clock: ManualClock) -> None:
    """Every condition of the filter narrows the list, and `limit` cuts its old end."""
    now = clock.monotonic()
    done = await drive(store, history("done", State.DONE, now))
    unknown = await drive(store, history("unknown", State.UNKNOWN, now))
    others = {
        "tenant": await drive(store, (claimed("tenant", now, by=origin(tenant="other")),)),
        "run": await drive(store, (claimed("run", now, by=origin(run_id="run-2")),)),
        "no_run": await drive(store, (claimed("no_run", now, by=origin(run_id=None)),)),
        "subject": await drive(store, (claimed("subject", now, by=origin(subject="ann")),)),
        "tool": await drive(store, (claimed("tool", now, by=origin(tool="ship")),)),
    }
    acme = (*reversed([it for name, it in others.items() if name != "tenant"]), unknown, done)
    asked = OperationFilter

    assert await store.list_operations(asked(tenant="acme")) == acme
    assert await store.list_operations(asked(tenant="acme", limit=2)) == acme[:2]
    assert await store.list_operations(asked(tenant="other")) == (others["tenant"],)
    assert await store.list_operations(asked(tenant="acme", run_id="run-2")) == (others["run"],)
    assert await store.list_operations(asked(tenant="acme", subject="ann")) == (others["subject"],)
    assert await store.list_operations(asked(tenant="acme", tool="ship")) == (others["tool"],)
    for states, found in (
        ({State.UNKNOWN, State.FROZEN}, (unknown,)),
        ({State.UNKNOWN, State.DONE}, (unknown, done)),
        (set[State](), ()),
    ):
        assert await store.list_operations(asked(tenant="acme", states=frozenset(states))) == found


async def test_settled_results_are_those_of_one_tool(store: OperationStore, clock: ManualClock) -> None:
    """Only DONE records of the tenant's tool, settled since then, the latest first."""
    now = clock.monotonic()
    first = await drive(store, history("a", State.DONE, now))
    second = await drive(store, history("b", State.DONE, now))
    await drive(store, history("c", State.UNKNOWN, now))
    await drive(store, (claimed("d", now, by=origin(tool="ship")),))

    assert await store.settled_results("acme", "refund", 0.0, 10) == (second, first)
    assert await store.settled_results("acme", "refund", 0.0, 1) == (second,)
    assert await store.settled_results("other", "refund", 0.0, 10) == ()
    assert await store.settled_results("acme", "ship", 0.0, 10) == ()
    assert first.settled_wall is not None
    assert await store.settled_results("acme", "refund", first.settled_wall, 10) == (second, first)
    assert await store.settled_results("acme", "refund", first.settled_wall + 1e6, 10) == ()


async def test_rows_are_listed_newest_first(store: OperationStore) -> None:
    """Every condition of the filter narrows the list, and `limit` cuts its old end."""
    rows = (
        row("r1"),
        row("r2", tenant="other"),
        row("r3", subject="ann"),
        row("r4", run_id="run-2"),
        row("r5", tool="ship"),
        row("r6", code="rate_limited"),
        row("r7", at_wall=1_790_000_009.0),
        row("r8", operation_id="op-8"),
        row("r9", trace_id="4bf92f3577b34da6a3ce929d0e0e4736"),
    )
    await store.append_rows(rows, strict=True)
    asked = RowFilter

    assert await store.list_rows(asked(tenant="acme")) == (*reversed(rows[2:]), rows[0])
    assert await store.list_rows(asked(tenant="acme", limit=1)) == (rows[8],)
    assert await store.list_rows(asked(tenant="other")) == (rows[1],)
    assert await store.list_rows(asked(tenant="acme", subject="ann")) == (rows[2],)
    assert await store.list_rows(asked(tenant="acme", run_id="run-2")) == (rows[3],)
    assert await store.list_rows(asked(tenant="acme", tool="ship")) == (rows[4],)
    assert await store.list_rows(asked(tenant="acme", code="rate_limited")) == (rows[5],)
    assert await store.list_rows(asked(tenant="acme", operation_id="op-8")) == (rows[7],)
    assert await store.list_rows(asked(tenant="acme", trace_id=rows[8].trace_id)) == (rows[8],)
    assert await store.list_rows(asked(tenant="acme", since_wall=1_790_000_009.0)) == (rows[6],)


async def test_a_row_is_kept_once(store: OperationStore) -> None:
    """A row that is sent again stays as it was first told."""
    await store.append_rows((row("r1"), row("r2")), strict=True)
    await store.append_rows((row("r1", code="other"),), strict=True)

    assert await store.list_rows(RowFilter(tenant="acme")) == (row("r2"), row("r1"))


async def test_doubt_is_counted_by_tool(store: OperationStore, clock: ManualClock) -> None:
    """UNKNOWN and listening records count, with the time since the oldest of them was sent."""
    now = clock.monotonic()
    await drive(store, history("a", State.UNKNOWN, now))
    await drive(store, tuple(replace(r, holds=()) for r in history("b", State.LISTENING, now)))
    for other in (State.DONE, State.FROZEN, State.CLAIMED):
        await drive(store, tuple(replace(r, holds=()) for r in history(other, other, now)))
    sent_wall = 1_790_000_001.0
    clock.step_wall(sent_wall + 60.0 - clock.wall())

    counted = await store.count_unknown()

    assert list(counted) == ["refund"]
    count, age_s = counted["refund"]
    assert count == 2
    assert age_s == pytest.approx(60.0)


async def test_nothing_is_in_doubt_at_first(store: OperationStore) -> None:
    """An empty store counts nothing and gives nothing."""
    assert await store.count_unknown() == {}
    assert await store.by_key("acme", "key") is None
    assert await store.by_operation_id("acme", "op") is None
    assert await store.lease_due("sweeper", 30.0, 10) == ()
    await store.check()


async def test_wall_never_goes_behind_what_is_stored(store: OperationStore, clock: ManualClock) -> None:
    """After a step back the wall clock stands still, and past 5 s the store says so."""
    await store.append_rows((row("r1"),), strict=True)
    stored = store.wall()
    clock.step_wall(-5.0)
    assert (store.wall(), store.clock_stepped_back()) == (stored, False)

    clock.step_wall(-0.5)
    assert (store.wall(), store.clock_stepped_back()) == (stored, True)

    clock.step_wall(6.0)
    assert (store.wall(), store.clock_stepped_back()) == (clock.wall(), False)


async def test_a_memory_has_a_name(harness: Harness) -> None:
    """Every view of one memory gives the same epoch."""
    assert (await harness.open()).epoch == (await harness.open()).epoch


async def test_a_second_view_sees_what_the_first_stored(harness: Harness, clock: ManualClock) -> None:
    """What one process stored, another finds, and the loser of a race learns of the winner."""
    one, other = await harness.open(), await harness.open()
    record = await drive(one, history("a", State.SENT, clock.monotonic()))
    done = fire(record, Event.DONE, clock.monotonic())

    assert await other.by_key("acme", record.key) == record
    assert await other.commit(Change(before=record, after=done)) == Applied()
    assert await one.by_key("acme", record.key) == done


async def test_the_last_tombstone_is_among_the_settled(store: OperationStore, clock: ManualClock) -> None:
    """What was forgotten of a tool's done operations is not passed over in silence; what was refused did nothing."""
    now = clock.monotonic()
    first, second = [await drive(store, history(name, State.DONE, now)) for name in ("a", "b")]
    done = await drive(store, history("c", State.DONE, now))
    refused = await drive(store, history("d", State.REFUSED, now))
    settled_wall = done.settled_wall
    assert settled_wall is not None
    await store.forget(retention_s=1e9, operation_id=refused.operation_id)
    assert await store.settled_results("acme", "refund", 0.0, 10) == (done, second, first)
    await store.forget(retention_s=1e9, operation_id=second.operation_id)
    found = await store.settled_results("acme", "refund", 0.0, 1)
    assert [(it.key, it.tombstone) for it in found] == [(done.key, False), (second.key, True)]
    await clock.advance(settled_wall + 1.0 - clock.wall())
    assert await store.forget(retention_s=0.0) == 2
    found = await store.settled_results("acme", "refund", 0.0, 10)
    assert [it.tombstone for it in found] == [True]
    assert found[0].settled_wall == settled_wall
    assert await store.settled_results("acme", "refund", settled_wall + 0.5, 10) == ()
    assert await store.settled_results("acme", "ship", 0.0, 10) == ()
    assert await store.settled_results("other", "refund", 0.0, 10) == ()
