"""`oncegate runs list` and `show`, and what they must not cost a gateway."""

import asyncio
import json
import subprocess
import sys

import pytest

from gateway.cli.exits import Exit
from tests.gateway.cli.run import run
from tests.gateway.cli.runs.conftest import Bench


async def test_tasks_are_listed_last_touched_first(bench: Bench) -> None:
    """For people a table, for programs one object a line."""
    await bench.task("task-1")
    await bench.task("task-2", amount=5_000)

    table = await asyncio.to_thread(run, "runs", "list", "--checkpoints", str(bench.path))
    lines = await asyncio.to_thread(run, "runs", "list", "--json", "--checkpoints", str(bench.path))

    assert table.stdout.splitlines()[0].split() == ["TASK", "TYPE", "STATUS", "REASON", "VERSION", "UPDATED"]
    assert table.stdout.splitlines()[1].split()[:4] == ["task-2", "refund", "AWAITING_APPROVAL", "approval"]
    documents = [json.loads(line) for line in lines.stdout.splitlines()]
    assert [d["task_id"] for d in documents] == ["task-2", "task-1"]
    assert documents[1]["headline"]["status"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--status", "awaiting_approval"), ["task-2"]),
        (("--type", "refund"), ["task-2", "task-1"]),
        (("--type", "other"), []),
        (("--finished",), ["task-1"]),
        (("--unfinished",), ["task-2"]),
        (("--limit", "1"), ["task-2"]),
    ],
)
async def test_the_list_can_be_narrowed(bench: Bench, words: tuple[str, ...], expected: list[str]) -> None:
    """Each option counts."""
    await bench.task("task-1")
    await bench.task("task-2", amount=5_000)

    result = await asyncio.to_thread(run, "runs", "list", "--json", "--checkpoints", str(bench.path), *words)

    assert [json.loads(line)["task_id"] for line in result.stdout.splitlines()] == expected


async def test_a_task_is_shown_as_a_story(bench: Bench) -> None:
    """How it stands, what happened, evidence, actions; what others wrote moves no cursor."""
    await bench.task()

    result = await asyncio.to_thread(run, "runs", "show", "task-1", "--checkpoints", str(bench.path))

    assert result.exit_code == 0, result.stderr
    for words in ("SUCCEEDED, verified", "3 of 6", "intent saved", "answered", "ev-1", "refunds-service", "verified"):
        assert words in result.stdout
    assert "\x1b" not in result.stdout


async def test_a_task_is_shown_to_programs_whole(bench: Bench) -> None:
    """The state and the timeline."""
    await bench.task()

    result = await asyncio.to_thread(run, "runs", "show", "task-1", "--json", "--checkpoints", str(bench.path))

    document = json.loads(result.stdout)
    assert document["state"]["status"] == "SUCCEEDED"
    assert document["timeline"][0]["what"] == "admitted"


async def test_a_task_that_is_not_there(bench: Bench) -> None:
    """The answer is no."""
    await bench.task()

    result = await asyncio.to_thread(run, "runs", "show", "task-9", "--checkpoints", str(bench.path))

    assert (result.exit_code, result.stderr) == (Exit.NO, "error: no task has the id task-9.\n")


def test_serving_loads_nothing_of_agents() -> None:
    """`oncegate serve` and every module of the gateway but this command's know nothing of agent_client."""
    code = (
        "import importlib, pkgutil, sys, gateway\n"
        "for found in pkgutil.walk_packages(gateway.__path__, 'gateway.'):\n"
        "    if not found.name.startswith('gateway.cli.runs') and not found.name.endswith('__main__'):\n"
        "        importlib.import_module(found.name)\n"
        "print('gateway.cli.serve' in sys.modules, [m for m in sys.modules if m.startswith('agent_client')])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert printed.stdout.strip() == "True []"
