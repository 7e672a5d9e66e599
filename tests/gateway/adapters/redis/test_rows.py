"""Rows that wait for one another."""

import asyncio
from collections.abc import Sequence

import pytest

from gateway.adapters.redis import rows as module
from gateway.adapters.redis.rows import RowBuffer
from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.operation.ports import StoreUnavailableError
from tests.conformance.moves import row
from tests.waiting import eventually, turns


class Book:
    """What was written, in calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[str]]] = []
        self.away = False
        self.written = asyncio.Event()

    async def write(self, tenant: str, rows: Sequence[ExecutionRow]) -> None:
        """Write, or fail to."""
        await turns()
        if self.away:
            raise StoreUnavailableError
        self.calls.append((tenant, [row.row_id for row in rows]))
        self.written.set()


async def test_rows_that_come_together_go_together() -> None:
    """One call a tenant, a little later, in order."""
    book = Book()
    buffer = RowBuffer(book.write)
    buffer.add((row("a"), row("b", tenant="other")))
    buffer.add((row("c"),))
    await book.written.wait()
    await buffer.flush()

    assert book.calls == [("acme", ["a", "c"]), ("other", ["b"])]
    assert len(buffer) == 0


async def test_rows_wait_for_a_store_that_is_away() -> None:
    """They are kept and tried again by themselves; a flush says that it could not be done."""
    book = Book()
    book.away = True
    buffer = RowBuffer(book.write)
    buffer.add((row("a"),))
    with pytest.raises(StoreUnavailableError):
        await buffer.flush()
    assert len(buffer) == 1

    book.away = False
    await book.written.wait()
    await buffer.flush()
    assert book.calls == [("acme", ["a"])]


async def test_more_than_can_be_kept_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound, said to whoever comes too late."""
    monkeypatch.setattr(module, "_MAX_WAITING", 2)
    buffer = RowBuffer(Book().write)
    buffer.add((row("a"), row("b")))
    with pytest.raises(StoreUnavailableError, match="2 execution rows wait"):
        buffer.add((row("c"),))
    await buffer.flush()


async def test_many_rows_go_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call keeps the server for long."""
    monkeypatch.setattr(module, "PIECE", 2)
    book = Book()
    buffer = RowBuffer(book.write)
    buffer.add([row(f"{n}") for n in range(5)])
    await buffer.flush()

    assert [ids for _, ids in book.calls] == [["0", "1"], ["2", "3"], ["4"]]


async def test_a_stopped_buffer_writes_nothing_by_itself() -> None:
    """What waits, waits, when that of a later buffer has long been written."""
    book, later = Book(), Book()
    buffer, running = RowBuffer(book.write), RowBuffer(later.write)
    buffer.add((row("a"),))
    buffer.stop()
    running.add((row("b"),))
    await eventually(lambda: bool(later.calls))

    assert (book.calls, len(buffer)) == ([], 1)
