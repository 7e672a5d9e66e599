"""Group commit: who shares a transaction, who waits, and who is told when it fails."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import apsw
import pytest

from gateway.adapters.sqlite.writer import Writer
from gateway.stages.execute.operation.ports import StoreUnavailableError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one table."""
    found = tmp_path / "w.db"
    connection = connect(found)
    connection.execute("CREATE TABLE t (n INTEGER)")
    connection.close()
    return found


@pytest.fixture
async def connection(path: Path) -> AsyncIterator[apsw.Connection]:
    """The write connection."""
    made = connect(path)
    yield made
    made.close()


@pytest.fixture
async def writer(connection: apsw.Connection) -> AsyncIterator[Writer]:
    """A writer that waits a fifth of a second for others."""
    made = Writer(connection, wait_s=0.2, stamp=lambda _: None)
    yield made
    await made.close()


def connect(path: Path) -> apsw.Connection:
    """Another process's view of the file."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL")
    return connection


def numbers(path: Path) -> list[int]:
    """What is durable."""
    connection = connect(path)
    try:
        return [n for (n,) in connection.execute("SELECT n FROM t ORDER BY n")]
    finally:
        connection.close()


def insert(connection: apsw.Connection, n: int) -> int:
    """One job's work."""
    connection.execute("INSERT INTO t VALUES (?)", (n,))
    return n


def inserting(n: int) -> Callable[[apsw.Connection], int]:
    """The same as a job."""
    return lambda connection: insert(connection, n)


async def test_jobs_of_one_turn_share_a_commit(writer: Writer, path: Path) -> None:
    """Each has its own result, in the order of their coming, once all of it is durable."""
    results = await asyncio.gather(*(writer.submit(inserting(n)) for n in range(50)))

    assert results == list(range(50))
    assert writer.commits == 1
    assert numbers(path) == list(range(50))


async def test_a_batch_is_bounded(writer: Writer) -> None:
    """Three hundred jobs are three transactions: none keeps the loop for long."""
    await asyncio.gather(*(writer.submit(inserting(n)) for n in range(300)))

    assert writer.commits == 3


async def test_what_comes_during_a_commit_is_the_next_batch(writer: Writer, path: Path) -> None:
    """A job that is submitted when another is answered finds the other's work durable."""
    first = writer.submit(inserting(1))
    await first
    second = await writer.submit(lambda c: c.execute("SELECT count(*) FROM t").fetchall())

    assert second == [(1,)]
    assert writer.commits == 2
    assert numbers(path) == [1]


async def test_the_stamp_is_part_of_each_batch(connection: apsw.Connection, path: Path) -> None:
    """It runs once a transaction, after the jobs."""

    def stamp(connection: apsw.Connection) -> None:
        """A number of its own."""
        insert(connection, 100)

    writer = Writer(connection, wait_s=1.0, stamp=stamp)

    await asyncio.gather(*(writer.submit(inserting(n)) for n in range(2)))
    await writer.close()

    assert numbers(path) == [0, 1, 100]


async def test_a_job_that_raises_harms_no_other(writer: Writer, path: Path) -> None:
    """Nothing of it is kept, whoever awaits it is told, and the others of its batch are carried out."""

    def fail(connection: apsw.Connection) -> None:
        """Half its work, then an error."""
        insert(connection, 99)
        raise LookupError("of its own")

    jobs = [writer.submit(inserting(1)), writer.submit(fail), writer.submit(inserting(2))]
    done = await asyncio.gather(*jobs, return_exceptions=True)

    assert done[0] == 1
    assert isinstance(done[1], StoreUnavailableError)
    assert isinstance(done[1].__cause__, LookupError)
    assert done[2] == 2
    assert numbers(path) == [1, 2]


async def test_a_refusal_keeps_its_kind(writer: Writer) -> None:
    """A StoreUnavailableError of a job's own comes out as it is."""
    own = StoreUnavailableError("own")

    def fail(_: apsw.Connection) -> None:
        """As a text does that cannot be opened."""
        raise own

    with pytest.raises(StoreUnavailableError) as raised:
        await writer.submit(fail)

    assert raised.value is own


async def test_a_failing_stamp_refuses_somebody_and_goes_on(connection: apsw.Connection) -> None:
    """Whatever raises, no caller waits for ever."""

    def stamp(_: apsw.Connection) -> None:
        """Always an error."""
        raise ArithmeticError

    writer = Writer(connection, wait_s=1.0, stamp=stamp)
    done = await asyncio.gather(*(writer.submit(lambda _: None) for _ in range(3)), return_exceptions=True)
    await writer.close()

    assert [type(it) for it in done] == [StoreUnavailableError] * 3


async def test_a_file_error_refuses_the_batch_and_only_it(
    writer: Writer, connection: apsw.Connection, path: Path
) -> None:
    """A full disk: everybody of the batch is told; when there is room again the next batch is carried out."""
    connection.execute("PRAGMA max_page_count = 3")
    jobs = [writer.submit(lambda c: c.execute("INSERT INTO t VALUES (zeroblob(1000000))")) for _ in range(2)]
    done = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(it) for it in done] == [StoreUnavailableError] * 2
    assert "FullError" in str(done[0])

    connection.execute("PRAGMA max_page_count = 1000")
    assert await writer.submit(inserting(1)) == 1
    assert numbers(path) == [1]


async def test_a_failed_commit_is_told_to_all(writer: Writer, connection: apsw.Connection, path: Path) -> None:
    """COMMIT itself fails: nobody is told that the work is durable, and the next batch starts clean."""
    connection.set_commit_hook(lambda: True)
    jobs = [writer.submit(inserting(n)) for n in range(3)]
    done = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(it) for it in done] == [StoreUnavailableError] * 3
    assert writer.commits == 0

    connection.set_commit_hook(None)
    assert await writer.submit(inserting(7)) == 7
    assert numbers(path) == [7]


async def test_another_process_is_waited_for(writer: Writer, path: Path) -> None:
    """A job is carried out as soon as the other's transaction ends."""
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")
    job = writer.submit(inserting(1))
    asyncio.get_running_loop().call_later(0.02, other.execute, "COMMIT")

    assert await job == 1
    other.close()


async def test_another_process_is_not_waited_for_for_ever(writer: Writer, path: Path) -> None:
    """After `wait_s` the job is refused and never carried out; a later one is."""
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match=r"for 0\.2 s"):
        await writer.submit(inserting(1))
    other.execute("COMMIT")
    other.close()

    await writer.submit(inserting(2))

    assert numbers(path) == [2]


async def test_each_job_waits_its_own_time(writer: Writer, path: Path) -> None:
    """A job that came late outlives one that came early."""
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")
    early = writer.submit(inserting(1))
    late: list[asyncio.Future[int]] = []
    loop = asyncio.get_running_loop()
    loop.call_later(0.15, lambda: late.append(writer.submit(inserting(2))))

    with pytest.raises(StoreUnavailableError):
        await early
    other.execute("COMMIT")
    other.close()

    assert await late[0] == 2
    assert numbers(path) == [2]


async def test_an_accepted_job_is_carried_out_for_nobody(writer: Writer, path: Path) -> None:
    """Whoever submitted it may have been cancelled: the work is done all the same."""
    writer.submit(inserting(1)).cancel()
    await writer.submit(inserting(2))

    assert numbers(path) == [1, 2]


async def test_closing_carries_out_what_was_accepted(connection: apsw.Connection, path: Path) -> None:
    """Everything submitted before is durable after; nothing is accepted any more."""
    writer = Writer(connection, wait_s=1.0, stamp=lambda _: None)
    jobs = [writer.submit(inserting(n)) for n in range(200)]
    await writer.close()

    assert all(job.done() for job in jobs)
    assert numbers(path) == list(range(200))
    with pytest.raises(StoreUnavailableError, match="closed"):
        writer.submit(inserting(1))
    assert repr(writer) == "<Writer 2 commits, 0 waiting, closed>"


async def test_closing_does_not_wait_for_a_hopeless_job(writer: Writer, path: Path) -> None:
    """What another process keeps out is refused after its time, and the writer closes."""
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")
    job = writer.submit(inserting(1))
    await writer.close()

    assert isinstance(job.exception(), StoreUnavailableError)
    other.close()


async def test_a_transaction_that_cannot_be_rolled_back_is_not_the_last(
    connection: apsw.Connection, path: Path
) -> None:
    """The one who waits is told, and the next job is carried out once the file answers again."""
    broken = [True]

    def hook(_cursor: apsw.Cursor, statement: str, _bindings: object) -> bool:
        if broken and statement in ("COMMIT", "ROLLBACK"):
            raise apsw.IOError(statement)
        return True

    connection.exec_trace = hook
    writer = Writer(connection, wait_s=0.2, stamp=lambda _: None)
    with pytest.raises(StoreUnavailableError):
        await writer.submit(lambda it: insert(it, 1))
    broken.clear()

    # The first to come after it finds the old transaction, and ends it.
    with pytest.raises(StoreUnavailableError):
        await writer.submit(lambda it: insert(it, 2))
    assert await writer.submit(lambda it: insert(it, 3)) == 3
    assert numbers(path) == [3]
    await writer.close()
