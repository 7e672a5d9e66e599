"""Checkpoints in a real Postgres: the suite, and what only a server can show."""

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
    store = PostgresCheckpoints("host=/nowhere user=u password=planted-secret", connections=1)
    with pytest.raises(CheckpointsUnavailable) as raised:
        await store.load("t")
    store.close()

    assert "planted-secret" not in f"{raised.value}{store!r}"


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
