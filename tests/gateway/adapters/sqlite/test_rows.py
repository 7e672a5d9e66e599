"""Rows that wait for one another."""

import asyncio
import math
import time
from collections.abc import AsyncIterator

import pytest

from gateway.adapters.sqlite.opening import OpenFile
from gateway.adapters.sqlite.rows import RowBuffer
from gateway.adapters.sqlite.writer import Writer
from gateway.at_rest import codec
from gateway.stages.execute.operation.ports import StoreUnavailableError
from tests.conformance.moves import row
from tests.waiting import eventually, turns


@pytest.fixture
async def writer(file: OpenFile) -> AsyncIterator[Writer]:
    """A writer of the file."""
    made = Writer(file.writing, wait_s=0.05, stamp=lambda _: None)
    yield made
    await made.close()


def count(file: OpenFile) -> int:
    """How many rows are durable."""
    ((rows,),) = file.reading.execute("SELECT count(*) FROM rows").fetchall()
    assert isinstance(rows, int)
    return rows


async def arrived(file: OpenFile, rows: int) -> None:
    """Wait until so many rows are durable."""
    # Durable is what a reader sees, and a reader is told of nothing: it can only ask.
    await eventually(lambda: count(file) >= rows)


async def test_rows_share_a_transaction(file: OpenFile, writer: Writer) -> None:
    """Whatever comes within the wait is one COMMIT."""
    buffer = RowBuffer(writer)
    for n in range(20):
        buffer.add((codec.row_values(row(f"r{n}")),))
    assert (len(buffer), count(file)) == (20, 0)

    await arrived(file, 20)
    # Readers see a commit a moment before its writer hears of it.
    await buffer.flush()

    assert writer.commits == 1
    assert len(buffer) == 0


async def test_a_row_is_durable_soon(file: OpenFile, writer: Writer) -> None:
    """Within 50 ms, on a machine that has the time: of many rows one must be, give or take the asking."""
    buffer = RowBuffer(writer)
    quickest_s = math.inf
    for n in range(50):
        start = time.monotonic()
        buffer.add((codec.row_values(row(f"r{n}")),))
        await arrived(file, n + 1)
        quickest_s = min(quickest_s, time.monotonic() - start)
        if quickest_s < 0.06:
            break
    await buffer.flush()

    assert quickest_s < 0.06


async def test_a_later_row_is_carried_too(file: OpenFile, writer: Writer) -> None:
    """One that comes while others are on their way has its own wait."""
    buffer = RowBuffer(writer)
    buffer.add((codec.row_values(row("r1")),))
    await arrived(file, 1)
    buffer.add((codec.row_values(row("r2")),))

    await arrived(file, 2)


async def test_flushing_does_not_wait(file: OpenFile, writer: Writer) -> None:
    """Everything accepted is durable when `flush` returns, also what was on its way."""
    buffer = RowBuffer(writer)
    buffer.add((codec.row_values(row("r1")),))
    first = asyncio.create_task(buffer.flush())
    await turns()
    buffer.add((codec.row_values(row("r2")),))
    await buffer.flush()

    assert count(file) == 2
    await first
    await buffer.flush()


async def test_rows_outlive_a_failed_transaction(file: OpenFile, writer: Writer) -> None:
    """While another process keeps the file the rows wait on, in their order, and are written afterwards."""
    buffer = RowBuffer(writer)
    file.reading.execute("PRAGMA query_only = OFF")
    file.reading.execute("BEGIN IMMEDIATE")
    buffer.add((codec.row_values(row("r1")),))
    with pytest.raises(StoreUnavailableError):
        await buffer.flush()
    buffer.add((codec.row_values(row("r2")),))
    file.reading.execute("COMMIT")

    await arrived(file, 2)

    assert file.reading.execute("SELECT row_id FROM rows ORDER BY rowid").fetchall() == [("r1",), ("r2",)]


async def test_the_buffer_is_bounded(writer: Writer) -> None:
    """When nothing can be written for long, more rows are refused rather than kept in memory for ever."""
    buffer = RowBuffer(writer)
    values = codec.row_values(row("r"))
    buffer.add([values] * 20_000)

    with pytest.raises(StoreUnavailableError, match="20000 execution rows wait"):
        buffer.add([values])
    await buffer.flush()
