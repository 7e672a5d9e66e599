"""A fleet on DBOS and a real Postgres: a worker is killed after the effect, another ends its task."""

import asyncio
import json
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from agent_client.engines.dbos import QUEUE, WORKFLOW, Fleet
from agent_client.status import Status
from bench.nursery import forked
from tests.agent_client.engines.worker import VERSION
from tests.agent_client.world import World
from tests.waiting import turns

pytestmark = pytest.mark.slow

IMPORTED = (
    "agent_client.checkpoints",
    "dbos.cli.cli",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "tests.agent_client.world",
)
"""What takes a worker most of its time; nothing here starts a thread."""


async def worker(role: str, world: World | None, database: str) -> tuple[int | None, str]:
    """Its exit code and what it said last."""
    places = ("", "") if world is None else (world.url, world.provider_url)
    code, told = await printed("tests.agent_client.engines.worker", role, *places, database)
    return code, told.decode().strip().splitlines()[-1] if told else ""


async def printed(module: str, *words: str) -> tuple[int, bytes]:
    """The exit code and all the words of a process that has imported DBOS already."""
    # Its errors go where ours do.
    with open(os.dup(2), "wb") as errors:  # noqa: ASYNC230, PTH123 - a copy of what is open
        process = await forked([sys.executable, "-m", module, *words], errors, None, also=IMPORTED)
    assert process.stdout is not None
    told = await process.stdout.read()
    return await process.wait(), told


async def test_L63_a_worker_killed_after_the_effect_leaves_one_effect(world: World, postgres_url: str) -> None:
    """SIGKILL between the refund and its note: another worker adopts the task, reconciles, and ends it."""
    killed = await worker("dies", world, postgres_url)
    ended = await worker("lives", world, postgres_url)

    assert killed == (-9, "refunded")
    assert ended == (0, "ended SUCCEEDED")
    assert world.refunds() == 1
    assert world.notices() == 1
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute("SELECT name, application_version FROM dbos.workflow_status").fetchall()
    assert rows == [(WORKFLOW, VERSION)]


async def test_the_engine_alone_has_two(world: World, postgres_url: str) -> None:
    """The control: the same fleet with a step that acts without an intent."""
    killed = await worker("naive-dies", world, postgres_url)
    ended = await worker("naive-lives", world, postgres_url)

    assert killed == (-9, "refunded")
    assert ended == (0, "ended SUCCEEDED")
    assert world.refunds() == 2


@pytest.mark.parametrize("role", ["wakes", "looks"])
async def test_a_task_that_waits_is_looked_at_again(role: str, postgres_url: str) -> None:
    """When it is woken, or after `look_every_s`; handing it in twice makes one task."""
    assert await worker(role, None, postgres_url) == (0, "ran 2")


async def test_a_process_that_only_hands_in_works_on_nothing(postgres_url: str) -> None:
    """The task is queued, its own is not adopted, and a name that lives is not given twice."""
    assert await worker("hands-in", None, postgres_url) == (0, "ran 0, adopted 0, <Fleet refund-1 me>")
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute("SELECT workflow_uuid, status, queue_name FROM dbos.workflow_status").fetchall()

    assert rows == [("task-h", "ENQUEUED", QUEUE)]


async def crew(role: str, database: str) -> Any:
    """What a fleet of `crew.py` saw."""
    code, told = await printed("tests.agent_client.engines.crew", role, database)
    assert code == 0
    return json.loads(told)


async def test_a_worker_is_known_by_its_name_and_version(postgres_url: str) -> None:
    """To DBOS as well: under its own names a starting worker would recover what a living one does."""
    seen = await crew("naming", postgres_url)

    assert seen["rows"] == [["PENDING", "me", "1"]]
    # No step of every task, and nothing to anybody else.
    assert seen["log"] == ["WARNING", "StreamHandler"]


async def test_tasks_of_another_version_are_left_alone(postgres_url: str) -> None:
    """Neither taken from the queue, though they were there first, nor adopted from a dead worker."""
    left = [["old", "PENDING"], ["old too", "ENQUEUED"], ["young", "SUCCESS"]]

    assert await crew("versions", postgres_url) == {"ran": ["young"], "adopted": 0, "rows": left}


async def test_the_dead_are_looked_for_as_often_as_it_was_said(postgres_url: str) -> None:
    """A worker that dies between two looks is adopted at the next, by `adopt_every_s` of the clock."""
    seen = await crew("adopting", postgres_url)

    assert seen == {"killed": -9, "early": 1, "ran": ["dropped"], "queued": [[QUEUE]]}


async def test_a_waiting_task_is_let_be_until_its_approval_lapses(postgres_url: str) -> None:
    """For `look_every_s`, or less where the approval ends sooner; one that has lapsed is looked at now."""
    assert await crew("looking", postgres_url) == [600.0, 600.0, 5.0, 0.0]


async def test_the_queue_hands_out_what_its_workers_take(postgres_url: str) -> None:
    """The newest workers' `concurrency` is the queue's, which is looked at twice a second; others change nothing."""
    assert await crew("queue", postgres_url) == [
        [[QUEUE, 8, 0.5], []],
        [[QUEUE, 2, 0.5], [QUEUE]],
        [[QUEUE, 2, 0.5], []],
        [[QUEUE, 3, 0.5], [QUEUE]],
        [[QUEUE, 3, 0.5], [QUEUE]],
    ]


async def test_no_more_than_that_work_at_once() -> None:
    """Whatever the queue hands out; the next begins when one is done."""
    at_work: list[str] = []
    ends = {task_id: asyncio.Event() for task_id in ("t1", "t2", "t3")}

    class Busy:
        async def run(self, task_id: str) -> Any:
            at_work.append(task_id)
            await ends[task_id].wait()
            return SimpleNamespace(finished=True, status=Status.SUCCEEDED, approval=None)

    busy: Any = Busy()
    step = Fleet(busy, database_url="", version="1", concurrency=2)._stepping()
    async with asyncio.TaskGroup() as group:
        for task_id in ends:
            group.create_task(step(task_id))
        await turns(10)
        assert at_work == ["t1", "t2"]
        ends["t1"].set()
        await turns(10)
        assert at_work == ["t1", "t2", "t3"]
        for end in ends.values():
            end.set()


def test_importing_the_engine_does_not_import_dbos() -> None:
    """Two seconds and 70 MB are for those who launch a fleet."""
    code = (
        "import sys, agent_client.engines.dbos; print(sorted({'dbos', 'psycopg', 'sqlalchemy'} & sys.modules.keys()))"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert told.stdout == "[]\n"


def test_a_fleet_has_a_version_and_a_name_of_its_own() -> None:
    """Two workers of one process are not one; without a version nothing would say which code may go on."""
    runner: Any = object()
    one, other = (Fleet(runner, database_url="postgresql://h/d?password=planted", version="1") for _ in range(2))

    assert one.executor_id != other.executor_id
    assert "planted" not in repr(one)
    with pytest.raises(ValueError, match="version"):
        Fleet(runner, database_url="", version="")
