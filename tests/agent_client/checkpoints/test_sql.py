"""What SQL alone must get right: the statements against a real file."""

from pathlib import Path

from agent_client.checkpoints import SQLiteCheckpoints
from agent_client.checkpoints.rows import Seal
from agent_client.checkpoints.sessions import Sessions
from agent_client.checkpoints.sql import SqlCheckpoints
from agent_client.checkpoints.sqlite import SQLiteSession
from agent_client.journal import TaskQuery
from agent_client.testing.checkpoints import bodies, commit


async def test_any_session_of_a_sql_database_makes_a_store(tmp_path: Path) -> None:
    """The port's methods need nothing but `execute` and `run`."""
    path = str(tmp_path / "runs.db")
    async with SqlCheckpoints(Sessions(lambda: SQLiteSession(path), 1), Seal()) as store:
        await store.create("t", commit(0, "it's; DROP TABLE checkpoint_tasks; --", reason="100 %s"))
        log = await store.load("t")

    assert log is not None
    assert bodies(log) == ["it's; DROP TABLE checkpoint_tasks; --"]
    assert log.headline.reason == "100 %s"


async def test_what_is_due_is_found_by_its_index(tmp_path: Path) -> None:
    """The sweeper's question does not read every task there ever was."""
    async with SQLiteCheckpoints(tmp_path / "runs.db") as store:
        await store.create("t", commit(0, wake_at_wall=5.0))
        assert [task.task_id for task in await store.tasks(TaskQuery(due_wall=5.0))] == ["t"]
        plan, _ = await store._sessions.run(
            lambda session: session.execute(
                "EXPLAIN QUERY PLAN SELECT task_id FROM checkpoint_tasks WHERE wake_at_wall <= 5"
            )
        )

    assert "checkpoint_tasks_due" in str(plan)


async def test_a_long_log_costs_no_more_to_grow(tmp_path: Path) -> None:
    """An append touches its own rows: as many statements after a thousand entries as after one."""
    counts: list[int] = []
    async with SQLiteCheckpoints(tmp_path / "runs.db") as store:
        await store.create("t", commit(0))
        for position in (1, 2, 1000):
            if position == 1000:
                filling = commit(3, *["x"] * 996)
                await store.append("t", after=3, commit=filling)
                position = 999  # noqa: PLW2901 - where the log ends now
            seen: list[str] = []
            await store._sessions.run(lambda session, seen=seen: session._connection.set_trace_callback(seen.append))  # type: ignore[misc]
            await store.append("t", after=position, commit=commit(position if position < 3 else 4))
            counts.append(len(seen))

    assert counts[0] == counts[1] == counts[2]
