"""Every cell of the table through every store: what goes in comes out, and what may not happen changes nothing."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation.become import become
from gateway.stages.execute.operation.ports import Applied, Change, OperationStore, RowFilter, Stale
from gateway.stages.execute.operation.record import State
from gateway.stages.execute.operation.table import TRANSITIONS, Event, IllegalMoveError
from tests.clocks import ManualClock
from tests.conformance.moves import ABSENT, CELLS, before, drive, fire, history, row


@pytest.mark.parametrize("state", State)
async def test_a_record_comes_back_as_it_went_in(store: OperationStore, clock: ManualClock, state: State) -> None:
    """A record of any state is the same by its key, its id and its identity."""
    record = await drive(store, history("a", state, clock.monotonic()))

    snapshot = await store.look("acme", (record.identity_key,))

    assert record.state is state
    assert await store.by_key("acme", record.key) == record
    assert await store.by_operation_id("acme", record.operation_id) == record
    assert snapshot.occurrences == (record,)
    assert snapshot.now == clock.monotonic()


@pytest.mark.parametrize(("state", "event"), CELLS)
async def test_a_legal_move_is_kept(store: OperationStore, clock: ManualClock, state: State, event: Event) -> None:
    """The record becomes what the machine made of it, with its holds and its row; sent again, it is still that."""
    now = clock.monotonic()
    record = await drive(store, before("a", state, event, now))
    after = fire(record, event, now)
    change = Change(before=record, after=after, rows=(row("r1"),))

    first, second = await store.commit(change), await store.commit(change)

    cell = TRANSITIONS[state][event]
    assert after.state in ({cell.to, State.UNKNOWN} if cell.joins else {cell.to})
    assert (first, second) == (Applied(), Applied())
    assert await store.by_key("acme", record.key) == after
    assert await store.list_rows(RowFilter(tenant="acme")) == (row("r1"),)
    holders = (await store.look("acme", (), after.holds)).holders
    assert {hold for hold, _ in holders} == set(after.standing_holds())
    assert all(holder == after for _, holder in holders)


@pytest.mark.parametrize(("state", "event"), ABSENT)
async def test_an_illegal_move_changes_nothing(
    store: OperationStore, clock: ManualClock, state: State, event: Event
) -> None:
    """The machine raises before there is anything to commit."""
    record = await drive(store, history("a", state, clock.monotonic()))

    with pytest.raises(IllegalMoveError):
        become(record, event, now=clock.monotonic())

    assert await store.by_key("acme", record.key) == record


@pytest.mark.parametrize(("state", "event"), CELLS)
async def test_a_move_from_an_old_version_changes_nothing(
    store: OperationStore, clock: ManualClock, state: State, event: Event
) -> None:
    """Whoever was overtaken is told what stands there now; neither record nor row is kept."""
    now = clock.monotonic()
    record = await drive(store, before("a", state, event, now))
    current = replace(record, version=record.version + 1, negatives=7)
    await store.commit(Change(before=record, after=current))

    answer = await store.commit(Change(before=record, after=fire(record, event, now), rows=(row("r1"),)))

    assert answer == Stale(current)
    assert await store.by_key("acme", record.key) == current
    assert await store.list_rows(RowFilter(tenant="acme")) == ()
