"""A fleet on DBOS and a real Postgres: a worker is killed after the effect, another ends its task."""

import asyncio
import sys
from asyncio.subprocess import PIPE

import psycopg
import pytest

from agent_client.engines.dbos import WORKFLOW
from tests.agent_client.engines.worker import VERSION
from tests.agent_client.world import World

pytestmark = pytest.mark.slow


async def worker(role: str, world: World, database: str) -> tuple[int | None, str]:
    """Its exit code and what it said."""
    provider = world.provider_url
    command = ["-m", "tests.agent_client.engines.worker", role, world.url, provider, database]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE)
    told, _ = await process.communicate()
    return process.returncode, told.decode().strip().splitlines()[-1] if told else ""


async def test_a_worker_killed_after_the_effect_leaves_one_effect(world: World, postgres_url: str) -> None:
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
