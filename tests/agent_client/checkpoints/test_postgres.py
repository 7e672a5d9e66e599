"""Checkpoints in a real Postgres: the suite, and what only a server can show."""

import asyncio
import threading
from typing import Any

import psycopg
import pytest

from agent_client.checkpoints import PostgresCheckpoints
from agent_client.checkpoints.sessions import Session
from agent_client.journal import CheckpointsUnavailable, CorruptLog
from agent_client.testing import CHECKPOINT_CHECKS, CheckpointSubject
from agent_client.testing.checkpoints import Check, bodies, commit
from tests.agent_client.checkpoints.stores import KEY, POSTGRES


@pytest.mark.parametrize("check", CHECKPOINT_CHECKS, ids=lambda check: check.__name__)
async def test_scenario_2_3_5_6_10_11_postgres_is_a_checkpoint_store(check: Check, postgres_database: str) -> None:
    """Every promise, with processes that are killed."""
    await check(CheckpointSubject(shared=POSTGRES, arguments=(postgres_database,)))


async def test_a_lost_connection_is_opened_again(postgres_database: str) -> None:
    """A server that dropped an idle connection, as every failover does, costs nobody a commit."""
    async with PostgresCheckpoints(postgres_database, connections=1) as store:
        await store.create("t", commit(0, "a"))
        _end_all_others(postgres_database)
        assert await store.append("t", after=1, commit=commit(1, "b")) == 2
        assert bodies(await store.load("t")) == ["a", "b"]


async def test_a_connection_lost_inside_a_commit_is_unavailable(postgres_database: str) -> None:
    """What was being written is not repeated by the store; the next call works."""
    async with PostgresCheckpoints(postgres_database, connections=1) as store:
        await store.create("t", commit(0, "a"))

        def ended(session: Session) -> None:
            _end_all_others(postgres_database)
            session.execute("SELECT 1")

        def cut(session: Session) -> None:
            session.run(ended, writes=True)

        with pytest.raises(CheckpointsUnavailable):
            await store._sessions.run(cut)
        assert bodies(await store.load("t")) == ["a"]


async def test_a_server_that_acknowledges_early_is_told_not_to(postgres_database: str) -> None:
    """`synchronous_commit = off` of a role or a database does not reach a commit of ours."""
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute(
            "ALTER ROLE postgres IN DATABASE " + connection.info.dbname + " SET synchronous_commit = off"
        )
    async with PostgresCheckpoints(postgres_database) as store:
        [(level,)], _ = await store._sessions.run(lambda session: session.execute("SHOW synchronous_commit"))

    assert level == "on"


async def test_nobody_there_is_unavailable_and_no_password_is_told() -> None:
    """The address stays out of message and repr."""
    store = PostgresCheckpoints("postgresql://u:planted-secret@/d?host=/nowhere", connections=1)
    with pytest.raises(CheckpointsUnavailable) as raised:
        await store.load("t")
    store.close()

    assert "planted-secret" not in f"{raised.value}{store!r}"


def test_what_is_no_address_is_refused_at_once() -> None:
    """In the constructor, without repeating it: it may hold a password."""
    with pytest.raises(ValueError, match="begins with postgresql://") as refused:
        PostgresCheckpoints("host=/nowhere user=u password=planted-secret")

    assert "planted-secret" not in str(refused.value)


async def test_an_address_that_cannot_be_read_is_unavailable_and_not_told() -> None:
    """What asyncpg says of it may hold it."""
    store = PostgresCheckpoints("postgresql://u:planted-secret@h:notaport/d", connections=1)
    with pytest.raises(CheckpointsUnavailable) as raised:
        await store.load("t")
    store.close()

    assert "planted-secret" not in str(raised.value)


async def test_as_many_connections_as_it_was_said(postgres_database: str) -> None:
    """Work beyond that waits, and needs no more of the server."""
    open_now = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    async with PostgresCheckpoints(postgres_database, connections=2) as store:
        both = threading.Barrier(2)

        def together(_: Session) -> None:
            both.wait()

        def counted(session: Session) -> int:
            [(connections,)], _ = session.execute(open_now)
            return int(connections)

        await asyncio.gather(*(store._sessions.run(together) for _ in range(2)))
        counts = await asyncio.gather(*(store._sessions.run(counted) for _ in range(4)))

    assert counts == [2] * 4


async def test_no_transaction_of_ours_hangs_for_ever(postgres_database: str) -> None:
    """A lock, a statement and a forgotten transaction are each bounded by the server."""
    async with PostgresCheckpoints(postgres_database) as store:
        names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")

        def found(session: Session) -> list[Any]:
            return [session.execute(f"SHOW {name}")[0] for name in names]

        shown = await store._sessions.run(found)

    assert shown == [[("20s",)], [("1min",)], [("1min",)]]


async def test_what_is_read_in_one_transaction_is_of_one_moment(postgres_database: str) -> None:
    """Another worker's commit in between is not seen, and nothing can be written."""
    async with PostgresCheckpoints(postgres_database) as store:
        await store.create("t", commit(0, "a"))

        def twice(session: Session) -> list[Any]:
            counts = [session.execute("SELECT count(*) FROM checkpoint_tasks")[0]]
            with psycopg.connect(postgres_database) as connection:
                connection.execute("DELETE FROM checkpoint_tasks")
            return [*counts, session.execute("SELECT count(*) FROM checkpoint_tasks")[0]]

        def writing(session: Session) -> None:
            session.execute("DELETE FROM checkpoint_tasks")

        assert await store._sessions.run(lambda session: session.run(twice, writes=False)) == [[(1,)], [(1,)]]
        with pytest.raises(CheckpointsUnavailable, match="read-only"):
            await store._sessions.run(lambda session: session.run(writing, writes=False))


async def test_a_changed_row_fails_closed(postgres_database: str) -> None:
    """As in a file; with a key, also one that was made with care."""
    async with PostgresCheckpoints(postgres_database, integrity_key=KEY) as store:
        await store.create("t", commit(0, "a"))
        await store.append("t", after=1, commit=commit(1, "b"))
        with psycopg.connect(postgres_database) as connection:
            connection.execute("UPDATE checkpoint_entries SET body = 'other' WHERE position = 1")
        with pytest.raises(CorruptLog, match="the entry at 1 was changed"):
            await store.load("t")
    async with PostgresCheckpoints(postgres_database) as keyless:
        with pytest.raises(CorruptLog):
            await keyless.load("t")


def _end_all_others(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
