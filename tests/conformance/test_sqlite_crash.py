"""Every cell of the table with a crash around its transaction: the file holds all of a change or nothing of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.adapters.sqlite import changes
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.at_rest.sealing import Sealer
from gateway.stages.execute.operation.ports import Applied, Change, OperationStore, RowFilter
from gateway.stages.execute.operation.record import Hold, Record, State
from gateway.stages.execute.operation.table import Event
from tests.clocks import ManualClock
from tests.conformance.images import image, is_sound, log_bytes
from tests.conformance.moves import CELLS, before, drive, fire, row
from tests.conformance.stores import SEAL_KEY, SqliteHarness, host


@pytest.fixture
async def living(clock: ManualClock, tmp_path: Path) -> AsyncIterator[SqliteHarness]:
    """The file that crashes are taken from."""
    made = SqliteHarness(clock, tmp_path)
    yield made
    await made.close()


@pytest.mark.parametrize(("state", "event"), CELLS)
async def test_a_crash_around_a_transaction(
    living: SqliteHarness, tmp_path: Path, clock: ManualClock, state: State, event: Event
) -> None:
    """Before COMMIT, in the middle of writing it, and after it: the record, its holds and its row stand or fall together.

    The same change can be sent after each of them and is then there once.
    """
    store, now = await living.open(), clock.monotonic()
    record = await drive(store, before("a", state, event, now))
    after = fire(record, event, now)
    change = Change(before=record, after=after, rows=(row("r1"),))
    start = log_bytes(living.path)

    _apply_without_commit(store, change, now)
    images = {"before": (image(living.path, tmp_path / "before"), record)}
    store._file.writing.execute("ROLLBACK")
    assert await store.commit(change) == Applied()
    end = log_bytes(living.path)
    for name, cut in (("first_frame", start + 100), ("torn", (start + end) // 2), ("last_byte", end - 1)):
        images[name] = (image(living.path, tmp_path / name, log_bytes=cut), record)
    images["after"] = (image(living.path, tmp_path / "after"), after)

    for path, expected in images.values():
        await _restart(path, clock, change, expected)


async def test_an_uncommitted_change_is_seen_by_nobody(living: SqliteHarness, clock: ManualClock) -> None:
    """While a batch is open, readers of this process and of others see what is durable."""
    store, other, now = await living.open(), await living.open(), clock.monotonic()
    record = await drive(store, before("a", State.SENT, Event.DONE, now))

    _apply_without_commit(store, Change(before=record, after=fire(record, Event.DONE, now)), now)

    assert await store.by_key("acme", record.key) == record
    assert (await store.look("acme", (record.identity_key,), record.holds)).occurrences == (record,)
    assert await other.by_key("acme", record.key) == record
    store._file.writing.execute("ROLLBACK")


def _apply_without_commit(store: SqliteOperationStore, change: Change, now: float) -> None:
    connection = store._file.writing
    connection.execute("BEGIN IMMEDIATE")
    prepared = changes.prepare(change, store._sealer)
    assert store._applier.apply(connection, prepared, now) == Applied()


async def _restart(path: Path, clock: ManualClock, change: Change, expected: Record) -> None:
    assert change.after is not None
    store = SqliteOperationStore.open(path, host=host(clock), sealer=Sealer.parse(SEAL_KEY))
    kept = change.after == expected
    try:
        assert await store.by_key("acme", expected.key) == expected
        assert await _standing(store, expected) == set(expected.standing_holds())
        assert len(await store.list_rows(RowFilter(tenant="acme"))) == (1 if kept else 0)

        assert await store.commit(change) == Applied()
        assert await store.by_key("acme", expected.key) == change.after
        assert await _standing(store, change.after) == set(change.after.standing_holds())
        assert await store.list_rows(RowFilter(tenant="acme")) == change.rows
    finally:
        await store.close()
    assert is_sound(path)


async def _standing(store: OperationStore, record: Record) -> set[Hold]:
    return {hold for hold, _ in (await store.look("acme", (), record.holds)).holders}
