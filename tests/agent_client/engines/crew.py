"""Fleets whose settings a test looks at, in a process of their own: `python -m tests.agent_client.engines.crew` ROLE DATABASE."""

import asyncio
import json
import logging
import sys
import threading
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import dbos
import psycopg
from dbos._dbos import _get_dbos_instance
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from psycopg import sql

from agent_client.engines.dbos import Fleet
from agent_client.engines.presence import SPACE, number
from agent_client.status import Status
from tests.clocks import ManualClock

GIVEN_UP_S = 60.0
"""A fleet that never comes to it fails its test, instead of holding up the others."""


@dataclass
class Crew:
    """Tasks that stay at work until they are let go, and never touch the world.

    DBOS runs them on a loop of its own, in a thread of its own: what both sides wait for are threads' events.
    """

    at_work: list[str] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)

    async def start(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(finished=False)

    async def run(self, task_id: str) -> Any:
        self.at_work.append(task_id)
        self.begun.set()
        await asyncio.to_thread(self.let_go.wait, GIVEN_UP_S)
        return await self.state(task_id)

    async def state(self, _: str) -> Any:
        return SimpleNamespace(finished=True, status=Status.SUCCEEDED, approval=None)


def fleet(runner: Any, database: str, **settings: Any) -> Fleet:
    """One on this database."""
    return Fleet(runner, database_url=database, **{"version": "1", **settings})


async def hand_in(database: str, *tasks: str, **settings: Any) -> None:
    """Queue tasks and leave: nobody works on them yet."""
    async with fleet(Crew(), database, concurrency=0, **settings) as handing:
        for task_id in tasks:
            await handing.start("refund", goal="g", task_id=task_id)


def rows(database: str, *columns: str) -> list[list[Any]]:
    """What DBOS holds of each task."""
    with psycopg.connect(database) as connection:
        query = sql.SQL("SELECT {} FROM dbos.workflow_status ORDER BY workflow_uuid")
        named = sql.SQL(", ").join(sql.Identifier(column) for column in columns)
        return [list(row) for row in connection.execute(query.format(named))]


async def queue(database: str) -> Any:
    """What the queue's row says after a process that hands in, a worker, one that hands in, a worker of a newer version and
    one of the older; and to which queues each listens.
    """
    kept = []
    for concurrency, version in ((0, "1"), (2, "1"), (0, "1"), (3, "2"), (4, "1")):
        async with fleet(Crew(), database, concurrency=concurrency, version=version):
            with psycopg.connect(database) as connection:
                settings = "SELECT name, worker_concurrency, polling_interval_sec FROM dbos.queues"
                listened: Any = _get_dbos_instance()._listening_queues
                kept.append([*connection.execute(settings).fetchall(), listened])
    return kept


async def naming(database: str) -> Any:
    """Who is at work, as DBOS knows it; and what it logs, and where to."""
    crew, log = Crew(), logging.getLogger("dbos")
    # As in a process that exports its own logs.
    set_logger_provider(LoggerProvider())
    async with fleet(crew, database, executor_id="me") as working:
        await working.start("refund", goal="g", task_id="t1")
        await asyncio.to_thread(crew.begun.wait, GIVEN_UP_S)
        seen = rows(database, "status", "executor_id", "application_version")
        crew.let_go.set()
        await asyncio.wait_for(working.result("t1"), GIVEN_UP_S)
        told = [logging.getLevelName(log.level), *(type(it).__name__ for it in log.handlers)]
    return {"rows": seen, "log": told}


async def versions(database: str) -> Any:
    """A task of an older version stands before one of the worker's own, and another was dropped by a dead worker."""
    await hand_in(database, "old", version="1")
    await hand_in(database, "young", version="2")
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = 'gone' WHERE workflow_uuid = 'old'"
        )
    await hand_in(database, "old too", version="1")
    crew = Crew()
    crew.let_go.set()
    async with fleet(crew, database, version="2") as working:
        await asyncio.wait_for(working.result("young"), GIVEN_UP_S)
        adopted = await working.adopt()
    return {"ran": crew.at_work, "adopted": adopted, "rows": rows(database, "workflow_uuid", "status")}


async def adopting(database: str) -> Any:
    """A worker dies while another is alive, which looks for the dead once its clock says so, and not before."""
    clock, crew = ManualClock(), Crew()
    crew.let_go.set()
    command = ["-m", "tests.agent_client.engines.crew", "dies", database]
    mortal = await asyncio.create_subprocess_exec(sys.executable, *command, stdin=PIPE, stdout=PIPE)
    assert mortal.stdout is not None
    await mortal.stdout.readline()
    async with fleet(crew, database, adopt_every_s=7.0, clock=clock) as living:
        await asyncio.wait_for(clock.sleepers(1), GIVEN_UP_S)
        mortal.kill()
        await mortal.communicate()
        # The server sees the closed socket in its own time: wait as any other would for the lock.
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(%s, %s)", (SPACE, number("mortal")))
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", (SPACE, number("mortal")))
        await clock.advance(6.5)
        early = clock.sleeping
        await clock.advance(0.5)
        await asyncio.wait_for(living.result("dropped"), GIVEN_UP_S)
        queued = rows(database, "queue_name")
    return {"killed": mortal.returncode, "early": early, "ran": crew.at_work, "queued": queued}


async def dies(database: str) -> None:
    """Take a task, say so, and hold it until somebody kills the process."""
    crew = Crew()
    async with fleet(crew, database, executor_id="mortal") as mortal:
        await mortal.start("refund", goal="g", task_id="dropped")
        await asyncio.to_thread(crew.begun.wait, GIVEN_UP_S)
        print("at work", flush=True)  # noqa: T201 - to its parent
        await asyncio.to_thread(sys.stdin.readline)


@dataclass
class Asked:
    """A task that waits for a person once, and then ends."""

    expires_wall: float | None
    runs: int = 0

    async def start(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(finished=False)

    async def run(self, task_id: str) -> Any:
        self.runs += 1
        if self.runs > 1:
            return await self.state(task_id)
        approval = SimpleNamespace(expires_wall=self.expires_wall)
        return SimpleNamespace(finished=False, status=Status.AWAITING_APPROVAL, approval=approval)

    async def state(self, _: str) -> Any:
        return SimpleNamespace(finished=True, status=Status.SUCCEEDED, approval=None)


async def looking(database: str) -> Any:
    """How long a task that waits for a person is let be: a while, and never past the end of its approval."""
    clock = ManualClock()
    waits = []
    for at, expires in enumerate((None, clock.wall() + 900.0, clock.wall() + 5.0, clock.wall() - 1.0)):
        async with fleet(Asked(expires), database, look_every_s=600.0, clock=clock) as waiting:
            await waiting.start("refund", goal="g", task_id=f"t{at}")
            await waiting.wake(f"t{at}")
            await asyncio.wait_for(waiting.result(f"t{at}"), GIVEN_UP_S)
            steps = await dbos.DBOS.list_workflow_steps_async(f"t{at}")
            told: list[Any] = [step["output"] for step in steps if step["function_name"] == "oncegate_run"]
            waits.append(told[0]["wait_s"])
    return waits


ROLES: dict[str, Callable[[str], Awaitable[Any]]] = {
    "queue": queue,
    "naming": naming,
    "versions": versions,
    "adopting": adopting,
    "dies": dies,
    "looking": looking,
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(ROLES[sys.argv[1]](sys.argv[2]))), flush=True)  # type: ignore[arg-type]  # noqa: T201 - to the test
