"""Checkpoints by their address."""

import asyncio
import sqlite3

import pytest

from agent_client import Gateway, PostgresCheckpoints, Runner, SQLiteCheckpoints
from bench import postgres
from gateway.cli.exits import Exit
from tests.agent_client.world import Stepwise
from tests.gateway.cli.run import run
from tests.gateway.cli.runs.conftest import Bench, refund_type


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite:{}"])
async def test_a_file_is_named_by_its_path_or_as_databases_are(bench: Bench, form: str) -> None:
    """All of them lead to the same tasks."""
    await bench.task()

    result = await asyncio.to_thread(run, "runs", "list", "--checkpoints", form.format(bench.path))

    assert (result.exit_code, "task-1" in result.stdout) == (0, True), result.stderr


async def test_the_environment_may_say_where_they_are(bench: Bench) -> None:
    """ONCEGATE_CHECKPOINTS, which also keeps an address out of sight of other users."""
    await bench.task()

    result = await asyncio.to_thread(run, "runs", "list", environment={"ONCEGATE_CHECKPOINTS": str(bench.path)})

    assert "task-1" in result.stdout


def test_tasks_may_be_in_postgres() -> None:
    """By its URL; the socket's folder is a parameter of it."""

    async def admit(address: str) -> None:
        async with PostgresCheckpoints(address) as store, Gateway("http://127.0.0.1:1", token="og_test") as gateway:
            runner = Runner(gateway=gateway, model=Stepwise(), checkpoints=store, tasks=[refund_type()])
            await runner.start("refund", goal="g", task_id="task-pg")

    with postgres.server() as server:
        address = postgres.url_of(server)
        asyncio.run(admit(address))
        result = run("runs", "list", "--checkpoints", address)
        none = run("runs", "list", "--checkpoints", "postgresql://nobody:hush@127.0.0.1:1/x")

    assert "task-pg" in result.stdout, result.stderr
    assert none.exit_code == Exit.UNREACHABLE
    assert "hush" not in none.stderr


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nowhere.db", "there is no file nowhere.db"),
        ("redis://x", "not in redis"),
        ("", "say where the tasks are kept"),
        ("other.db", "other.db holds no checkpoints"),
        ("text.db", "text.db cannot be read as checkpoints"),
    ],
)
async def test_looking_makes_nothing(bench: Bench, address: str, sentence: str) -> None:
    """What is no file of checkpoints is told, and left as it was."""
    with sqlite3.connect(bench.folder / "other.db") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    (bench.folder / "text.db").write_text("not a database, but a text that is long enough to be one" * 20)
    before = {path.name: path.read_bytes() for path in bench.folder.iterdir() if path.is_file()}

    result = await asyncio.to_thread(run, "runs", "list", "--checkpoints", address)

    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert sentence in result.stderr
    assert {path.name: path.read_bytes() for path in bench.folder.iterdir() if path.is_file()} == before


async def test_rows_under_an_integrity_key_need_it(bench: Bench) -> None:
    """Without it they cannot be told from changed ones, and the sentence says so."""
    key = b"k" * 32
    gateway = Gateway(bench.desk.url, token="og_test")
    async with SQLiteCheckpoints(bench.path, integrity_key=key) as store, gateway:
        runner = Runner(gateway=gateway, model=Stepwise(), checkpoints=store, tasks=[refund_type()])
        await runner.start("refund", goal="g", task_id="task-1")
    words = ("runs", "show", "task-1", "--checkpoints", str(bench.path))

    without = await asyncio.to_thread(run, *words)
    odd = await asyncio.to_thread(run, *words, environment={"ONCEGATE_CHECKPOINTS_KEY": "xyz"})
    right = await asyncio.to_thread(run, *words, environment={"ONCEGATE_CHECKPOINTS_KEY": key.hex()})

    assert (without.exit_code, "ONCEGATE_CHECKPOINTS_KEY" in without.stderr) == (Exit.FAULT, True)
    assert (odd.exit_code, "not hexadecimal" in odd.stderr) == (Exit.USAGE, True)
    assert right.exit_code == 0, right.stderr


async def test_tables_of_a_newer_version_are_not_read(bench: Bench) -> None:
    """One sentence, and what to do is clear from it."""
    await bench.task()
    with sqlite3.connect(bench.path) as newer:
        newer.execute("INSERT INTO checkpoint_schema VALUES (99)")
    newer.close()

    result = await asyncio.to_thread(run, "runs", "list", "--checkpoints", str(bench.path))

    assert (result.exit_code, "schema 99" in result.stderr) == (Exit.USAGE, True)
