"""Databases of earlier steps are brought to the last; those of later versions are left alone."""

import sqlite3
from pathlib import Path

import psycopg
import pytest

from agent_client.checkpoints import PostgresCheckpoints, SQLiteCheckpoints, schema
from agent_client.checkpoints.schema import STEPS, VERSION, SchemaTooNewError
from agent_client.testing.checkpoints import bodies, commit


@pytest.mark.parametrize("step", range(VERSION))
async def test_a_file_of_an_earlier_step_keeps_its_tasks(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written by the tables of then, read and grown by those of now."""
    path = tmp_path / "runs.db"
    if step:
        with monkeypatch.context() as then:
            then.setattr(schema, "STEPS", STEPS[:step])
            then.setattr(schema, "VERSION", step)
            async with SQLiteCheckpoints(path) as old:
                await old.create("t", commit(0, "a"))
        assert _versions(path) == [*range(1, step + 1)]
    async with SQLiteCheckpoints(path) as store:
        await store.create("t", commit(0, "a"))
        await store.append("t", after=1, commit=commit(1, "b"))
        assert bodies(await store.load("t")) == ["a", "b"]

    assert _versions(path) == [*range(1, VERSION + 1)]


async def test_a_database_of_an_earlier_step_keeps_its_tasks(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same in Postgres."""
    with monkeypatch.context() as then:
        then.setattr(schema, "STEPS", STEPS[:1])
        then.setattr(schema, "VERSION", 1)
        async with PostgresCheckpoints(postgres_database) as old:
            await old.create("t", commit(0, "a"))
    async with PostgresCheckpoints(postgres_database) as store:
        assert bodies(await store.load("t")) == ["a"]
    with psycopg.connect(postgres_database) as connection:
        rows = connection.execute("SELECT version FROM checkpoint_schema ORDER BY version").fetchall()

    assert rows == [(number,) for number in range(1, VERSION + 1)]


async def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    """It is said, and nothing is written."""
    path = tmp_path / "runs.db"
    async with SQLiteCheckpoints(path) as store:
        await store.create("t", commit(0, "a"))
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO checkpoint_schema VALUES (99)")
    connection.commit()
    connection.close()
    store = SQLiteCheckpoints(path)
    with pytest.raises(SchemaTooNewError, match=f"schema 99, and this version knows {VERSION}"):
        await store.load("t")
    store.close()


def _versions(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT version FROM checkpoint_schema ORDER BY version").fetchall()
    connection.close()
    return [version for (version,) in rows]
